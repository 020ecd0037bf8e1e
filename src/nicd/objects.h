/* SPDX-License-Identifier: Apache-2.0
 * The compiled programs of NICs and switches, as parts of the daemon. */
#ifndef TOLLBAR_NICD_OBJECTS_H
#define TOLLBAR_NICD_OBJECTS_H

#ifdef __cplusplus
extern "C" {
#endif

extern const unsigned char tollbar_nic_object[];
extern const unsigned char tollbar_nic_object_end[];
extern const unsigned char tollbar_switch_object[];
extern const unsigned char tollbar_switch_object_end[];

#ifdef __cplusplus
}
#endif

#endif
