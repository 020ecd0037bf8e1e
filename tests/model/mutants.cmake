# SPDX-License-Identifier: Apache-2.0
# Mutants of the headers: each is a header with one thing changed, compiled into a program that must be caught.

# tollbar_mutant(wake_before_store HEADER words.hpp SITUATION parking FINDING stuck
#                REPLACE [[old text]] [[new text]] ...)
#
# Configuring fails unless every old text occurs exactly once, so that a mutant cannot turn into the original.
function(tollbar_mutant name)
    cmake_parse_arguments(PARSE_ARGV 1 mutant "" "HEADER;SITUATION;FINDING" "REPLACE")
    set(source ${PROJECT_SOURCE_DIR}/include/tollbar/detail/${mutant_HEADER})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} text)
    while(mutant_REPLACE)
        list(POP_FRONT mutant_REPLACE old new)
        # A semicolon would end a list element, so the texts are given with an @ in its place.
        string(REPLACE "@" ";" old "${old}")
        string(REPLACE "@" ";" new "${new}")
        string(FIND "${text}" "${old}" first)
        string(FIND "${text}" "${old}" last REVERSE)
        if(first EQUAL -1 OR NOT first EQUAL last)
            message(FATAL_ERROR "tests/model: the text that mutant ${name} replaces must occur once in ${mutant_HEADER}:\n${old}")
        endif()
        string(REPLACE "${old}" "${new}" text "${text}")
    endwhile()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
    set(mutated ${folder}/tollbar/detail/${mutant_HEADER})
    set(before "")
    if(EXISTS ${mutated})
        file(READ ${mutated} before)
    endif()
    if(NOT before STREQUAL text)
        file(WRITE ${mutated} "${text}")
    endif()

    set(target model_mutant_${name})
    add_executable(${target} mutant.cpp)
    target_include_directories(${target} BEFORE PRIVATE ${folder})
    target_link_libraries(${target} PRIVATE tollbar_model)
    target_compile_options(${target} PRIVATE -O0)
    add_dependencies(tests-model ${target})
    add_dependencies(tests-unsanitized ${target})
    string(REPLACE "_" " " title ${name})
    add_test(NAME ${target} COMMAND ${target} "${title} (${mutant_HEADER})" ${mutant_SITUATION} "${mutant_FINDING}")
    set_tests_properties(${target} PROPERTIES TIMEOUT 300 LABELS "model;unsanitized")
endfunction()

add_executable(model_original mutant.cpp)
target_link_libraries(model_original PRIVATE tollbar_model tollbar_warnings)
target_compile_options(model_original PRIVATE -O2)
add_dependencies(tests-model model_original)
add_dependencies(tests-unsanitized model_original)
add_test(NAME model_original COMMAND model_original)
set_tests_properties(model_original PROPERTIES TIMEOUT 600 LABELS "model;unsanitized")

# The waker and the sleeper: waiting.hpp.
tollbar_mutant(waker_without_fence HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "Sync::full_fence()@\n    }\n    if (const" "}\n    if (const")
tollbar_mutant(waker_without_light_fence HEADER waiting.hpp SITUATION handshake_asymmetric FINDING stuck
    REPLACE "Sync::light_fence()@" "")
tollbar_mutant(sleeper_without_fence HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "Sync::full_fence()@\n    }\n    const std::uint32_t mask" "}\n    const std::uint32_t mask")
tollbar_mutant(sleeper_without_heavy_fence HEADER waiting.hpp SITUATION handshake_asymmetric FINDING stuck
    REPLACE "is_seen = Sync::heavy_fence(waking.scope)@" "")
tollbar_mutant(sleeper_of_a_turnstile_without_fence HEADER waiting.hpp SITUATION turnstile_parking FINDING stuck
    REPLACE "Sync::full_fence()@\n    }\n    const std::uint32_t mask" "}\n    const std::uint32_t mask")
tollbar_mutant(announced_after_the_last_look HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    sleepers.announce(turn)@\n" ""
            "in_time = Sync::sleep_on(word, seen, mask, waking.scope, deadline)@"
            "sleepers.announce(turn)@\n        in_time = Sync::sleep_on(word, seen, mask, waking.scope, deadline)@\n        sleepers.withdraw(turn)@"
            "    if (sleepers.withdraw(turn)) Sync::wake(word, mask, waking.scope, Sync::links)@\n" "")
tollbar_mutant(fenced_before_announcing HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    sleepers.announce(turn)@\n" ""
            "    bool in_time = true@" "    sleepers.announce(turn)@\n    bool in_time = true@")
tollbar_mutant(sleepers_decremented_too_early HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    if (sleepers.withdraw(turn)) Sync::wake(word, mask, waking.scope, Sync::links)@\n" ""
            "    bool in_time = true@" "    sleepers.withdraw(turn)@\n    bool in_time = true@")
tollbar_mutant(await_relaxed HEADER waiting.hpp SITUATION turnstile_spinning FINDING "left early"
    REPLACE "happened() const noexcept { return word.load(std::memory_order_acquire)" "happened() const noexcept { return word.load(std::memory_order_relaxed)")
tollbar_mutant(deadline_taken_for_success HEADER waiting.hpp SITUATION turnstile_yielding_giving_up FINDING "left early"
    REPLACE "if (polled == Polled::passed) return awaited.happened()@" "if (polled == Polled::passed) return true@")
tollbar_mutant(look_at_the_sleepers_relaxed HEADER waiting.hpp SITUATION turnstile_parking FINDING stuck
    REPLACE "sleepers.look(std::memory_order_seq_cst)" "sleepers.look(std::memory_order_relaxed)")

# The chain: a release wakes some, who wake others.
tollbar_mutant(chain_not_passed_on HEADER waiting.hpp SITUATION turnstile_four_parking FINDING stuck
    REPLACE "    if (sleepers.withdraw(turn)) Sync::wake(word, mask, waking.scope, Sync::links)@\n" "    sleepers.withdraw(turn)@\n")
tollbar_mutant(chain_broken_by_a_deadline HEADER waiting.hpp SITUATION turnstile_one_giving_up FINDING stuck
    REPLACE "if (sleepers.withdraw(turn)) Sync::wake" "if (sleepers.withdraw(turn) && in_time) Sync::wake")
tollbar_mutant(chain_announced_after_waking HEADER waiting.hpp SITUATION turnstile_four_parking FINDING stuck
    REPLACE "        if (chain && (seen & chained(turn)) == 0) state_.fetch_or(chained(turn), std::memory_order_relaxed)@\n" ""
            "        Sync::wake(word, mask, scope, chain ? Sync::links : Sync::all)@"
            "        Sync::wake(word, mask, scope, chain ? Sync::links : Sync::all)@\n        if (chain && (seen & chained(turn)) == 0) state_.fetch_or(chained(turn), std::memory_order_relaxed)@")
tollbar_mutant(chain_known_by_an_old_look HEADER waiting.hpp SITUATION turnstile_four_parking FINDING stuck
    REPLACE "const std::uint64_t before = state_.fetch_sub(one(turn), std::memory_order_relaxed)@"
            "const std::uint64_t before = state_.load(std::memory_order_relaxed)@ state_.fetch_sub(one(turn), std::memory_order_relaxed)@")
tollbar_mutant(sleepers_of_other_turns_overlooked HEADER waiting.hpp SITUATION turnstile_bystanders FINDING stuck
    REPLACE "count(seen, turn + 1) == 0 ? mask_of(turn) : Sync::everybody" "mask_of(turn)")

# Words: words.hpp, and the runner: runner.hpp.
tollbar_mutant(signal_relaxed HEADER words.hpp SITUATION spinning FINDING "left early"
    REPLACE "store(episode, std::memory_order_release)" "store(episode, std::memory_order_relaxed)")
tollbar_mutant(poll_relaxed HEADER words.hpp SITUATION polling FINDING "left early"
    REPLACE "word->load(std::memory_order_acquire)" "word->load(std::memory_order_relaxed)")
tollbar_mutant(wake_before_the_store HEADER words.hpp SITUATION parking FINDING stuck
    REPLACE "        word->store(" "        wake_sleepers(*word, *sleepers, episode, waking)@\n        word->store("
            "        wake_sleepers(*word, *sleepers, episode, waking)@\n    }" "    }")
tollbar_mutant(addition_relaxed HEADER words.hpp SITUATION one_word_spinning FINDING "left early"
    REPLACE "word->fetch_add(1, std::memory_order_seq_cst)" "word->fetch_add(1, std::memory_order_relaxed)")
tollbar_mutant(meeting_relaxed HEADER words.hpp SITUATION combination_spinning FINDING "left early"
    REPLACE "word->fetch_add(1, std::memory_order_seq_cst)" "word->fetch_add(1, std::memory_order_relaxed)")
tollbar_mutant(first_to_meet_goes_on HEADER words.hpp SITUATION combination_spinning FINDING "left early"
    REPLACE "return add(episode) ? 1 : 1 + skip@" "return add(episode) ? 1 + skip : 1@")
tollbar_mutant(resumed_at_the_next_step HEADER runner.hpp SITUATION parking_giving_up FINDING "left early"
    REPLACE "if (!in_time || transport_.gone()) return advance()@" "if (!in_time || transport_.gone()) return ++next_, false@")

# Participants without ranks: turnstile.hpp.
tollbar_mutant(arrival_relaxed HEADER turnstile.hpp SITUATION turnstile_spinning FINDING "left early"
    REPLACE "fetch_add(times, std::memory_order_seq_cst)" "fetch_add(times, std::memory_order_relaxed)")
tollbar_mutant(reached_relaxed HEADER turnstile.hpp SITUATION turnstile_polling FINDING "left early"
    REPLACE "word_.load(std::memory_order_acquire) >= target" "word_.load(std::memory_order_relaxed) >= target")
tollbar_mutant(closing_relaxed HEADER turnstile.hpp SITUATION turnstile_step_spinning FINDING "left early"
    REPLACE "fetch_add(closing_step, std::memory_order_seq_cst)" "fetch_add(closing_step, std::memory_order_relaxed)")
tollbar_mutant(released_before_the_closing_step HEADER turnstile.hpp SITUATION turnstile_step_spinning FINDING "left early"
    REPLACE "        if constexpr (closing == Closing::step) complete()@\n" ""
            "word_.fetch_add(closing_step, std::memory_order_seq_cst)@" "word_.fetch_add(closing_step, std::memory_order_seq_cst), complete()@")
tollbar_mutant(wake_before_closing HEADER turnstile.hpp SITUATION turnstile_step_parking FINDING stuck
    REPLACE "            wake_sleepers_after_add(word_, sleepers_, turn_of(target), Waking{})@\n        }" "        }"
            "            if constexpr (closing == Closing::step) word_" "            wake_sleepers_after_add(word_, sleepers_, turn_of(target), Waking{})@\n            if constexpr (closing == Closing::step) word_")
tollbar_mutant(those_who_left_forgotten HEADER turnstile.hpp SITUATION turnstile_leaving FINDING stuck
    REPLACE "if (gone != 0) gone_[(phase + 1) % 2].add(phase + 1, gone)@" "")
tollbar_mutant(leaving_noted_after_the_arrival HEADER turnstile.hpp SITUATION turnstile_step_leaving FINDING stuck
    REPLACE "        gone_[phase % 2].add(phase, 1)@\n        anybody_gone_.store(true, std::memory_order_relaxed)@\n        arrive<check>(1, complete)@"
            "        arrive<check>(1, complete)@\n        gone_[phase % 2].add(phase, 1)@\n        anybody_gone_.store(true, std::memory_order_relaxed)@")

# At leaves: leaves.hpp.
tollbar_mutant(place_taken_relaxed HEADER leaves.hpp SITUATION leaves_spinning FINDING "left early"
    REPLACE "fetch_add(wanted, std::memory_order_seq_cst)" "fetch_add(wanted, std::memory_order_relaxed)")
tollbar_mutant(leaf_filled_relaxed HEADER leaves.hpp SITUATION leaves_spinning FINDING "left early"
    REPLACE "word.fetch_add(1, std::memory_order_seq_cst) + 1 == (phase + 1)" "word.fetch_add(1, std::memory_order_relaxed) + 1 == (phase + 1)")
tollbar_mutant(leaves_released_relaxed HEADER leaves.hpp SITUATION leaves_spinning FINDING "left early"
    REPLACE "missing_at(leaf, gone), std::memory_order_release)" "missing_at(leaf, gone), std::memory_order_relaxed)")
tollbar_mutant(leaf_reached_relaxed HEADER leaves.hpp SITUATION leaves_polling FINDING "left early"
    REPLACE "word.load(std::memory_order_acquire) >= target_of(place)" "word.load(std::memory_order_relaxed) >= target_of(place)")
tollbar_mutant(first_to_fill_a_leaf_releases HEADER leaves.hpp SITUATION leaves_spinning FINDING "left early"
    REPLACE "if (!is_last(root_.word, phase, middles_ != 0 ? middles_ : leaves_)) return@" "is_last(root_.word, phase, 1)@")
tollbar_mutant(full_leaf_gives_places HEADER leaves.hpp SITUATION leaves_spinning FINDING stuck
    REPLACE "std::min(wanted, places_ - std::min(taken(before), places_))" "wanted")
tollbar_mutant(own_leaf_not_released HEADER leaves.hpp SITUATION leaves_parking FINDING stuck
    REPLACE "leaf = 0@ leaf <= own@" "leaf = 0@ leaf < own@")
tollbar_mutant(released_before_the_completion HEADER leaves.hpp SITUATION leaves_spinning FINDING "left early"
    REPLACE "        complete()@\n        release(leaf, phase + 1)@" "        release(leaf, phase + 1)@\n        complete()@")
tollbar_mutant(sleepers_at_leaves_overlooked HEADER leaves.hpp SITUATION leaves_parking FINDING stuck
    REPLACE "        Sync::full_fence()@  // orders" "        // orders")
tollbar_mutant(empty_leaves_awaited HEADER leaves.hpp SITUATION leaves_leaving FINDING stuck
    REPLACE "        if (gone != 0) fill_for_the_gone(gone)@\n" "")
tollbar_mutant(several_places_of_one_leaf HEADER leaves.hpp SITUATION leaves_arriving_for_two FINDING stuck
    REPLACE "times -= got@" "times = 0@")
