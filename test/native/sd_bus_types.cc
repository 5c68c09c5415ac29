// Holds native/linux/bus/sd_bus.h against the library's own header; compiled, never run, by bus.test.ts.
#include <systemd/sd-bus.h>

#include <cstddef>
#include <type_traits>

#include "linux/bus/sd_bus.h"

namespace {

namespace ours = hostwire::sdbus;

// Our name for a type stands for the library's.
template <class T>
struct Theirs {
  using type = T;
};
template <>
struct Theirs<ours::Bus> {
  using type = ::sd_bus;
};
template <>
struct Theirs<ours::Message> {
  using type = ::sd_bus_message;
};
template <>
struct Theirs<ours::Slot> {
  using type = ::sd_bus_slot;
};
template <>
struct Theirs<ours::Error> {
  using type = ::sd_bus_error;
};
template <class T>
struct Theirs<const T> {
  using type = const typename Theirs<T>::type;
};
template <class T>
struct Theirs<T*> {
  using type = typename Theirs<T>::type*;
};
template <class Result, class... Arguments>
struct Theirs<Result(Arguments...)> {
  using type = typename Theirs<Result>::type(typename Theirs<Arguments>::type...);
};

template <auto Member, auto Function>
constexpr bool kIsSame = false;
template <class Type, Type ours::Functions::*Member, auto Function>
constexpr bool kIsSame<Member, Function> = std::is_same_v<typename Theirs<Type>::type, decltype(Function)>;

using F = ours::Functions;
static_assert(kIsSame<&F::create, &sd_bus_new>);
static_assert(kIsSame<&F::set_address, &sd_bus_set_address>);
static_assert(kIsSame<&F::set_bus_client, &sd_bus_set_bus_client>);
static_assert(kIsSame<&F::negotiate_fds, &sd_bus_negotiate_fds>);
static_assert(kIsSame<&F::start, &sd_bus_start>);
static_assert(kIsSame<&F::is_ready, &sd_bus_is_ready>);
static_assert(kIsSame<&F::get_fd, &sd_bus_get_fd>);
static_assert(kIsSame<&F::get_events, &sd_bus_get_events>);
static_assert(kIsSame<&F::get_timeout, &sd_bus_get_timeout>);
static_assert(kIsSame<&F::process, &sd_bus_process>);
static_assert(kIsSame<&F::close_unref, &sd_bus_close_unref>);
static_assert(kIsSame<&F::call_async, &sd_bus_call_async>);
static_assert(kIsSame<&F::add_match_async, &sd_bus_add_match_async>);
static_assert(kIsSame<&F::slot_unref, &sd_bus_slot_unref>);
static_assert(kIsSame<&F::message_new_method_call, &sd_bus_message_new_method_call>);
static_assert(kIsSame<&F::message_unref, &sd_bus_message_unref>);
static_assert(kIsSame<&F::message_set_auto_start, &sd_bus_message_set_auto_start>);
static_assert(kIsSame<&F::message_append_basic, &sd_bus_message_append_basic>);
static_assert(kIsSame<&F::message_open_container, &sd_bus_message_open_container>);
static_assert(kIsSame<&F::message_close_container, &sd_bus_message_close_container>);
static_assert(kIsSame<&F::message_read_basic, &sd_bus_message_read_basic>);
static_assert(kIsSame<&F::message_peek_type, &sd_bus_message_peek_type>);
static_assert(kIsSame<&F::message_enter_container, &sd_bus_message_enter_container>);
static_assert(kIsSame<&F::message_exit_container, &sd_bus_message_exit_container>);
static_assert(kIsSame<&F::message_skip, &sd_bus_message_skip>);
static_assert(kIsSame<&F::message_at_end, &sd_bus_message_at_end>);
static_assert(kIsSame<&F::message_get_sender, &sd_bus_message_get_sender>);
static_assert(kIsSame<&F::message_get_path, &sd_bus_message_get_path>);
static_assert(kIsSame<&F::message_get_member, &sd_bus_message_get_member>);
static_assert(kIsSame<&F::message_get_error, &sd_bus_message_get_error>);
static_assert(sizeof(F) == 30 * sizeof(void*), "each function is compared above");

static_assert(sizeof(ours::Error) == sizeof(::sd_bus_error));
static_assert(offsetof(ours::Error, name) == offsetof(::sd_bus_error, name));
static_assert(offsetof(ours::Error, message) == offsetof(::sd_bus_error, message));
static_assert(offsetof(ours::Error, needsFree) == offsetof(::sd_bus_error, _need_free));
static_assert(std::is_same_v<Theirs<ours::Handler>::type, ::sd_bus_message_handler_t>);

}  // namespace
