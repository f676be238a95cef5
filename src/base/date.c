// SPDX-License-Identifier: Apache-2.0
// Years are counted from 1 March, so that the leap day is the last of its year, in eras of 400 years.
#include "base/date.h"

enum { DAYS_BEFORE_1970 = 719468, DAYS_OF_ERA = 146097 };

struct date date_of_days(int64_t days) {
    days += DAYS_BEFORE_1970;
    int64_t era = (days >= 0 ? days : days - (DAYS_OF_ERA - 1)) / DAYS_OF_ERA;
    int64_t day_of_era = days - era * DAYS_OF_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    struct date d;
    d.day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    d.month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    d.year = year_of_era + era * 400 + (d.month <= 2);
    return d;
}

int64_t date_to_days(struct date d) {
    int64_t year = d.year - (d.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month_from_march = d.month > 2 ? d.month - 3 : d.month + 9;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + d.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_OF_ERA + day_of_era - DAYS_BEFORE_1970;
}

bool date_is_valid(struct date d) {
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31) return false;
    struct date same = date_of_days(date_to_days(d));
    return same.year == d.year && same.month == d.month && same.day == d.day;
}
