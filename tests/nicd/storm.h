/* SPDX-License-Identifier: Apache-2.0
 * What the program that makes bad weather is told, and what it counts. */
#ifndef TOLLBAR_TESTS_DOORS_NIC_STORM_H
#define TOLLBAR_TESTS_DOORS_NIC_STORM_H

enum { storm_mark = 0x73746f72 };

struct storm_weather {
    unsigned lost, doubled, held, altered; /* per mille of the frames */
};

struct storm_deeds { /* at least, for processors do not wait for each other */
    unsigned held, altered;
};

#endif
