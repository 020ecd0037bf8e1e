# SPDX-License-Identifier: Apache-2.0
# Mutants of the headers: each is a header with one thing changed, compiled into a program that must be caught.

# tollbar_mutant(wake_before_store HEADER wired.hpp SITUATION parking FINDING stuck
#                REPLACE [[old text]] [[new text]] ...)
#
# Configuring fails unless every old text occurs exactly once, so that a mutant cannot turn into the original.
function(tollbar_mutant name)
    cmake_parse_arguments(PARSE_ARGV 1 mutant "" "HEADER;SITUATION;FINDING" "REPLACE")
    set(source ${PROJECT_SOURCE_DIR}/include/tollbar/${mutant_HEADER})
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
    set(mutated ${folder}/tollbar/${mutant_HEADER})
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
    REPLACE "Sync::full_fence()@\n    }\n    if (bell" "}\n    if (bell")
tollbar_mutant(waker_without_light_fence HEADER waiting.hpp SITUATION handshake_asymmetric FINDING stuck
    REPLACE "Sync::light_fence()@" "")
tollbar_mutant(sleeper_without_fence HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "Sync::full_fence()@\n    }\n    bool" "}\n    bool")
tollbar_mutant(sleeper_without_heavy_fence HEADER waiting.hpp SITUATION handshake_asymmetric FINDING stuck
    REPLACE "Sync::heavy_fence(ringing.scope)@" "")
tollbar_mutant(sleeper_of_a_turnstile_without_fence HEADER waiting.hpp SITUATION turnstile_parking FINDING stuck
    REPLACE "Sync::full_fence()@\n    }\n    bool" "}\n    bool")
tollbar_mutant(announced_after_the_last_look HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    bell.sleepers.fetch_add(1, std::memory_order_relaxed)@\n" ""
            "in_time = Sync::sleep_on(word, seen, ringing.scope, deadline)@"
            "bell.sleepers.fetch_add(1, std::memory_order_relaxed)@\n        in_time = Sync::sleep_on(word, seen, ringing.scope, deadline)@\n        bell.sleepers.fetch_sub(1, std::memory_order_relaxed)  @"
            "    bell.sleepers.fetch_sub(1, std::memory_order_relaxed)@\n" "")
tollbar_mutant(fenced_before_announcing HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    bell.sleepers.fetch_add(1, std::memory_order_relaxed)@\n" ""
            "    bool reached = false@" "    bell.sleepers.fetch_add(1, std::memory_order_relaxed)@\n    bool reached = false@")
tollbar_mutant(sleepers_decremented_too_early HEADER waiting.hpp SITUATION handshake FINDING stuck
    REPLACE "    bell.sleepers.fetch_sub(1, std::memory_order_relaxed)@\n" ""
            "    bool reached = false@" "    bell.sleepers.fetch_sub(1, std::memory_order_relaxed)@\n    bool reached = false@")
tollbar_mutant(await_relaxed HEADER waiting.hpp SITUATION spinning FINDING "left early"
    REPLACE "[&] { return word.load(std::memory_order_acquire)" "[&] { return word.load(std::memory_order_relaxed)")
tollbar_mutant(look_before_sleeping_relaxed HEADER waiting.hpp SITUATION parking FINDING "left early"
    REPLACE "seen = word.load(std::memory_order_acquire)" "seen = word.load(std::memory_order_relaxed)")
tollbar_mutant(look_after_the_deadline_relaxed HEADER waiting.hpp SITUATION parking_giving_up FINDING "left early"
    REPLACE "reached || word.load(std::memory_order_acquire)" "reached || word.load(std::memory_order_relaxed)")
tollbar_mutant(deadline_taken_for_success HEADER waiting.hpp SITUATION yielding_giving_up FINDING "left early"
    REPLACE "        if (deadline.passed()) return reached()@" "        if (deadline.passed()) return true@")
tollbar_mutant(look_at_the_sleepers_relaxed HEADER waiting.hpp SITUATION turnstile_parking FINDING stuck
    REPLACE "bell.sleepers.load(std::memory_order_seq_cst)" "bell.sleepers.load(std::memory_order_relaxed)")

# Programs wired to words: wired.hpp.
tollbar_mutant(signal_relaxed HEADER wired.hpp SITUATION spinning FINDING "left early"
    REPLACE "store(episode, std::memory_order_release)" "store(episode, std::memory_order_relaxed)")
tollbar_mutant(poll_relaxed HEADER wired.hpp SITUATION polling FINDING "left early"
    REPLACE "word->load(std::memory_order_acquire)" "word->load(std::memory_order_relaxed)")
tollbar_mutant(wake_before_the_store HEADER wired.hpp SITUATION parking FINDING stuck
    REPLACE "        word->store(" "        ring(*word, *bell, ringing)@\n        word->store("
            "        ring(*word, *bell, ringing)@\n    }" "    }")
tollbar_mutant(addition_relaxed HEADER wired.hpp SITUATION one_word_spinning FINDING "left early"
    REPLACE "word->fetch_add(1, std::memory_order_seq_cst)" "word->fetch_add(1, std::memory_order_relaxed)")
tollbar_mutant(meeting_relaxed HEADER wired.hpp SITUATION combination_spinning FINDING "left early"
    REPLACE "word->fetch_add(1, std::memory_order_seq_cst)" "word->fetch_add(1, std::memory_order_relaxed)")
tollbar_mutant(first_to_meet_goes_on HEADER wired.hpp SITUATION combination_spinning FINDING "left early"
    REPLACE "if (!step.add(episode_)) next_ += step.skip@" "if (step.add(episode_)) next_ += step.skip@")
tollbar_mutant(resumed_at_the_next_step HEADER wired.hpp SITUATION parking_giving_up FINDING "left early"
    REPLACE "wait_for(*next_, deadline)) return false@" "wait_for(*next_, deadline)) return ++next_, false@")

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
    REPLACE "            ring_after_add(word_, bell_, Ringing{})@\n        }" "        }"
            "            if constexpr (closing == Closing::step) word_" "            ring_after_add(word_, bell_, Ringing{})@\n            if constexpr (closing == Closing::step) word_")
tollbar_mutant(those_who_left_forgotten HEADER turnstile.hpp SITUATION turnstile_leaving FINDING stuck
    REPLACE "if (gone != 0) gone_[(phase + 1) % 2].add(phase + 1, gone)@" "")
tollbar_mutant(leaving_noted_after_the_arrival HEADER turnstile.hpp SITUATION turnstile_step_leaving FINDING stuck
    REPLACE "        gone_[phase % 2].add(phase, 1)@\n        anybody_gone_.store(true, std::memory_order_relaxed)@\n        arrive(1, complete)@"
            "        arrive(1, complete)@\n        gone_[phase % 2].add(phase, 1)@\n        anybody_gone_.store(true, std::memory_order_relaxed)@")
