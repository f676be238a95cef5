// SPDX-License-Identifier: Apache-2.0
// partition.metadata: which topic (by id) a partition directory belongs to.
#pragma once

#include "base/text.h"
#include "os/os.h"
#include "protocol/uuid.h"

#define PARTITION_METADATA_FILE "partition.metadata"

// "version: 0\ntopic_id: <22 letters>". False: *reason says what is wrong.
bool partition_metadata_parse(struct str text, struct uuid *topic_id, struct text *reason);
// Blocking. A missing file is a zero id. -EINVAL: damaged (*reason).
int partition_metadata_read(struct os_host *host, const char *directory, struct uuid *topic_id, struct text *reason);
int partition_metadata_write(struct os_host *host, const char *directory, struct uuid topic_id);
