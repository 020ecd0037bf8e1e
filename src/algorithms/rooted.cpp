// SPDX-License-Identifier: Apache-2.0
// Barriers that gather to rank 0 and release from it: two trees each, chosen from four shapes.
#include "programs.hpp"

#include <bit>

namespace tollbar::detail {

namespace {

/// One rank's node of a tree. Rank 0 is the root; its own parent means nothing.
struct Node {
    Rank parent = 0;
    std::vector<Rank> children;
};

/// Everybody is a child of rank 0.
Node star(Rank self, Rank ranks) {
    Node node;
    for (Rank child = 1; self == 0 && child < ranks; ++child) node.children.push_back(child);
    return node;
}

/// Groups of n, level by level, led by the lowest rank: the parent clears the lowest non-zero digit in base n.
/// Children of the lowest level come first.
Node knomial(Rank self, Rank ranks, Rank n) {
    Node node;
    for (std::uint64_t stride = 1; stride < ranks; stride *= n) {
        const std::uint64_t offset = self % (stride * n);
        if (offset != 0) {
            node.parent = static_cast<Rank>(self - offset);
            break;
        }
        for (std::uint64_t j = 1; j < n && self + j * stride < ranks; ++j)
            node.children.push_back(static_cast<Rank>(self + j * stride));
    }
    return node;
}

/// The same tree, for going down: children of the top level first, ascending inside a level.
Node knomial_from_the_top(Rank self, Rank ranks, Rank n) {
    const Node up = knomial(self, ranks, n);
    Node node{up.parent, {}};
    for (std::size_t end = up.children.size(); end != 0;) {
        const std::size_t begin = (end - 1) / (n - 1) * (n - 1);  // every level is full but the top one
        for (std::size_t i = begin; i != end; ++i) node.children.push_back(up.children[i]);
        end = begin;
    }
    return node;
}

/// Open MPI's broadcast tree: the parent clears the highest set bit, children ascend (largest subtree first).
Node binomial(Rank self, Rank ranks) {
    Node node;
    const std::uint64_t highest = std::bit_floor(self);
    node.parent = static_cast<Rank>(self - highest);
    for (std::uint64_t bit = self == 0 ? 1 : 2 * highest; self + bit < ranks; bit *= 2)
        node.children.push_back(static_cast<Rank>(self + bit));
    return node;
}

/// The tree of a heap: children of r are arity*r + 1 and the following.
Node heap(Rank self, Rank ranks, Rank arity) {
    Node node;
    if (self != 0) node.parent = (self - 1) / arity;
    const std::uint64_t first = std::uint64_t{self} * arity + 1;
    for (std::uint64_t child = first; child < first + arity && child < ranks; ++child)
        node.children.push_back(static_cast<Rank>(child));
    return node;
}

Program rooted(Rank self, const Node& gather, const Node& release) {
    Program program;
    for (const Rank child : gather.children) program.push_back(await(child));
    if (self != 0) {
        program.push_back(signal(gather.parent));
        program.push_back(await(release.parent));
    }
    for (const Rank child : release.children) program.push_back(signal(child));
    return program;
}

}  // namespace

/// The central counter, written as a plan.
Program central(Rank self, Rank ranks) { return rooted(self, star(self, ranks), star(self, ranks)); }

/// Yew, Tzeng, Lawrie 1987.
Program combining(Rank self, Rank ranks, Rank n) {
    return rooted(self, knomial(self, ranks, n), binomial(self, ranks));
}

/// Grunwald and Vajracharya 1994.
Program fway_tournament(Rank self, Rank ranks, Rank f) {
    return rooted(self, knomial(self, ranks, f), knomial_from_the_top(self, ranks, f));
}

/// Mellor-Crummey and Scott 1991.
Program mcs(Rank self, Rank ranks, Rank arrival_arity, Rank wakeup_arity) {
    return rooted(self, heap(self, ranks, arrival_arity), heap(self, ranks, wakeup_arity));
}

/// Hensgen, Finkel, Manber 1988.
Program tournament(Rank self, Rank ranks) { return rooted(self, knomial(self, ranks, 2), binomial(self, ranks)); }

/// Tzeng and Kongmunvattana 1997.
Program bst(Rank self, Rank ranks) { return rooted(self, binomial(self, ranks), binomial(self, ranks)); }

}  // namespace tollbar::detail
