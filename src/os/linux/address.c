// SPDX-License-Identifier: Apache-2.0
// Addresses between text and the kernel's form. An IPv4 address that reached us through an IPv6 socket is shown as
// IPv4.
#include "os/linux/engine.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

void address_to_text(const struct sockaddr *from, struct os_address *to) {
    *to = (struct os_address){.text = "unknown"};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, from, sizeof v4);
        inet_ntop(AF_INET, &v4.sin_addr, to->text, sizeof to->text);
        to->port = ntohs(v4.sin_port);
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, from, sizeof v6);
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
        const uint8_t *bytes = v6.sin6_addr.s6_addr;
        inet_ntop(is_mapped ? AF_INET : AF_INET6, is_mapped ? bytes + 12 : bytes, to->text, sizeof to->text);
        to->port = ntohs(v6.sin6_port);
    }
}

bool address_from_numeric(const char *text, uint16_t port, struct sockaddr_storage *to, socklen_t *size) {
    memset(to, 0, sizeof *to);
    struct sockaddr_in *v4 = (struct sockaddr_in *)to;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *size = sizeof *v4;
        return true;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *size = sizeof *v6;
        return true;
    }
    return false;
}

static int resolve_error(int code) {
    switch (code) {
    case EAI_SYSTEM: return errno != 0 ? -errno : -EIO;
    case EAI_MEMORY: return -ENOMEM;
    case EAI_AGAIN: return -EAGAIN;
    default: return -EADDRNOTAVAIL; // there is no such name
    }
}

struct addrinfo *address_resolve(const char *text, uint16_t port, bool to_listen, int *error) {
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    if (to_listen) hints.ai_flags |= AI_PASSIVE;
    struct addrinfo *list = NULL;
    int code = getaddrinfo(text[0] == '\0' ? NULL : text, service, &hints, &list);
    *error = code == 0 ? 0 : resolve_error(code);
    return code == 0 ? list : NULL;
}
