// SPDX-License-Identifier: Apache-2.0
// Days since 1970-01-01 to a date and back, in the Gregorian calendar and UTC; no libc clock or time zone is involved.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct date {
    int64_t year;
    int month, day; // from 1
};
struct date date_of_days(int64_t days);
int64_t date_to_days(struct date date);
// Such a day exists.
bool date_is_valid(struct date date);
