// SPDX-License-Identifier: Apache-2.0
// Lets pickle and copy take values apart and make them again, field by field.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace python {

/// The fields of a value, all of them: `list` is a tuple of pointers to members.
template <class T>
struct Fields;

template <class T>
concept HasFields = requires {
    Fields<T>::list;
};

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

template <class T>
nanobind::object taken_apart(const T& value) {
    if constexpr (HasFields<T>) {
        return std::apply([&value](auto... field) { return nanobind::make_tuple(taken_apart(value.*field)...); },
                          Fields<T>::list);
    } else if constexpr (is_vector<T>) {
        nanobind::list parts;
        for (const auto& part : value) parts.append(taken_apart(part));
        return parts;
    } else if constexpr (std::is_enum_v<T>) {
        return nanobind::cast(static_cast<unsigned>(value));
    } else {
        return nanobind::cast(value);
    }
}

/// Throws what nanobind throws where the parts are not those that taken_apart gives.
template <class T>
T made_of(nanobind::handle parts) {
    if constexpr (HasFields<T>) {
        T value{};
        std::apply(
            [&](auto... field) {
                std::size_t at = 0;
                ((value.*field = made_of<std::remove_cvref_t<decltype(value.*field)>>(parts[at++])), ...);
            },
            Fields<T>::list);
        return value;
    } else if constexpr (is_vector<T>) {
        T value;
        for (const nanobind::handle part : parts) value.push_back(made_of<typename T::value_type>(part));
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<T>(nanobind::cast<unsigned>(parts));
    } else {
        return nanobind::cast<T>(parts);
    }
}

/// A class of values that can be sent to other processes and copied.
template <HasFields T>
nanobind::class_<T> class_to_send(nanobind::module_& m, const char* name, const char* meaning) {
    nanobind::class_<T> made(m, name, meaning);
    made.def("__getstate__", &taken_apart<T>);
    made.def("__setstate__", [](T& self, nanobind::tuple parts) { new (&self) T(made_of<T>(parts)); });
    return made;
}

}  // namespace python
