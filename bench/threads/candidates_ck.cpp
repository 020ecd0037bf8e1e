// SPDX-License-Identifier: Apache-2.0
// The five barriers of Concurrency Kit, where libck is installed. All of them only ever spin.
#include "candidates.hpp"
#include "ck.h"

#include <new>

namespace tollbar::bench {

namespace {

template <peer_ck_shape shape, void (*one_episode)(peer_ck*, unsigned)>
class CkBarrier {
public:
    struct Seat {
        peer_ck* peer;
        Rank rank;
        void episode() { one_episode(peer, rank); }
    };

    explicit CkBarrier(Rank ranks) : peer_(peer_ck_open(shape, ranks)) {
        if (peer_ == nullptr) throw std::bad_alloc();
    }
    ~CkBarrier() { peer_ck_close(peer_); }
    CkBarrier(const CkBarrier&) = delete;
    CkBarrier& operator=(const CkBarrier&) = delete;

    Seat seat(Rank rank) { return {peer_, rank}; }

private:
    peer_ck* peer_;
};

}  // namespace

void add_concurrency_kit(Roster& roster, Rank ranks) {
    const auto label = [](const char* name) { return Label{name, "peer", "auto", Manners::spins}; };
    roster.add<CkBarrier<PEER_CK_CENTRALIZED, peer_ck_centralized>>(label("ck_centralized"), ranks);
    roster.add<CkBarrier<PEER_CK_COMBINING, peer_ck_combining>>(label("ck_combining"), ranks);
    roster.add<CkBarrier<PEER_CK_DISSEMINATION, peer_ck_dissemination>>(label("ck_dissemination"), ranks);
    roster.add<CkBarrier<PEER_CK_TOURNAMENT, peer_ck_tournament>>(label("ck_tournament"), ranks);
    roster.add<CkBarrier<PEER_CK_MCS, peer_ck_mcs>>(label("ck_mcs"), ranks);
    roster.versions.push_back({"ck", peer_ck_version()});
}

}  // namespace tollbar::bench
