// SPDX-License-Identifier: Apache-2.0
// The handlers of all APIs; table.c lists them. Each takes the call and sooner or later responds.
#pragma once

#include "api/api.h"

void handle_produce(struct api_call *call);
void handle_fetch(struct api_call *call);
void handle_list_offsets(struct api_call *call);
void handle_metadata(struct api_call *call);
void handle_api_versions(struct api_call *call);
void handle_create_topics(struct api_call *call);
