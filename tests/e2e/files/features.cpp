// What files of intel/llvm's sycl/test-e2e are about, written anew: one check each, by the path of the file.
// Each line of the output is `PATH ok` or `PATH wrong`; without arguments all are run.
#include <sycl/sycl.hpp>

#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {
constexpr int N = 256, GROUP = 32;
using Order = sycl::memory_order;
using Scope = sycl::memory_scope;
const sycl::nd_range<1> GROUPS{N, GROUP};

template <typename T> struct Shared { // memory that both sides see
  sycl::queue &queue;
  T *at;
  explicit Shared(sycl::queue &q, T first = T{}, int count = N) : queue(q), at(sycl::malloc_shared<T>(count, q)) {
    std::fill(at, at + count, first);
  }
  Shared(const Shared &) = delete;
  ~Shared() { sycl::free(at, queue); }
};

template <typename T> using Device = sycl::atomic_ref<T, Order::relaxed, Scope::device>;

// How a group's algorithm is called, and what each work item is to get.
template <typename Name, typename Body> bool over_groups(sycl::queue &q, Body body, std::function<int(int)> want) {
  Shared<int> out(q, -1);
  int *at = out.at;
  q.parallel_for<Name>(GROUPS, [=](sycl::nd_item<1> item) { at[item.get_global_id(0)] = body(item); }).wait();
  for (int i = 0; i < N; i++)
    if (at[i] != want(i))
      return false;
  return true;
}

// What N work items leave behind in one place.
template <typename Name, typename T, typename Body> T in_one_place(sycl::queue &q, T first, Body body) {
  Shared<T> out(q, first, 1);
  T *at = out.at;
  q.parallel_for<Name>(sycl::range<1>(N), [=](sycl::item<1> item) {
     body(Device<T>(*at), static_cast<int>(item.get_id(0)));
   }).wait();
  return *at;
}

int local(sycl::nd_item<1> item) { return static_cast<int>(item.get_local_id(0)); }
bool atomic_add(sycl::queue &q) {
  bool whole = in_one_place<class AddInt>(q, 3, [](auto place, int i) { place.fetch_add(i); }) == 3 + N * (N - 1) / 2;
  return whole && in_one_place<class AddFloat>(q, 0.5f, [](auto place, int) { place += 1.0f; }) == N + 0.5f;
}
bool atomic_sub(sycl::queue &q) {
  return in_one_place<class Sub>(q, 1000L, [](auto place, int) { place.fetch_sub(2L); }) == 1000L - 2 * N;
}
bool atomic_and(sycl::queue &q) {
  return in_one_place<class And>(q, ~0u, [](auto place, int i) { place.fetch_and(~(1u << (i % 8))); }) == ~0xFFu;
}
bool atomic_or(sycl::queue &q) {
  return in_one_place<class Or>(q, 0u, [](auto place, int i) { place |= 1u << (i % 16); }) == 0xFFFFu;
}
bool atomic_xor(sycl::queue &q) {
  return in_one_place<class Xor>(q, 5u, [](auto place, int i) { place.fetch_xor(i == 7 ? 12u : 0u); }) == 9u;
}
bool atomic_min(sycl::queue &q) {
  return in_one_place<class Min>(q, 500, [](auto place, int i) { place.fetch_min(100 - i); }) == 101 - N;
}
bool atomic_max(sycl::queue &q) {
  bool whole = in_one_place<class Max>(q, -1, [](auto place, int i) { place.fetch_max(i); }) == N - 1;
  return whole && in_one_place<class MaxD>(q, 0.0, [](auto place, int i) { place.fetch_max(i / 2.0); }) == (N - 1) / 2.0;
}
bool atomic_exchange(sycl::queue &q) {
  int last = in_one_place<class Exchange>(q, -1, [](auto place, int i) { place.exchange(i); });
  return last >= 0 && last < N;
}
bool atomic_compare(sycl::queue &q) {
  return in_one_place<class Compare>(q, 0, [](auto place, int) {
           for (int seen = place.load(); !place.compare_exchange_strong(seen, seen + 1);) {
           }
         }) == N;
}
bool atomic_load(sycl::queue &q) {
  return in_one_place<class Load>(q, 7L, [](auto place, int) {
           if (place.load() != 7L)
             place.store(0L);
         }) == 7L;
}
bool atomic_store(sycl::queue &q) {
  return in_one_place<class Store>(q, 0, [](auto place, int) { place.store(41); }) == 41;
}
bool atomic_local(sycl::queue &q) {
  Shared<int> out(q, 0);
  int *at = out.at;
  q.submit([&](sycl::handler &h) {
     sycl::local_accessor<int, 1> sum(1, h);
     h.parallel_for<class AddLocal>(GROUPS, [=](sycl::nd_item<1> item) {
       sycl::group_barrier(item.get_group());
       if (local(item) == 0)
         sum[0] = 0;
       sycl::group_barrier(item.get_group());
       sycl::atomic_ref<int, Order::relaxed, Scope::work_group, sycl::access::address_space::local_space>(sum[0])++;
       sycl::group_barrier(item.get_group());
       at[item.get_global_id(0)] = sum[0];
     });
   }).wait();
  return std::all_of(at, at + N, [](int found) { return found == GROUP; });
}

bool group_all(sycl::queue &q) {
  return over_groups<class All>(
      q, [](auto item) { return sycl::all_of_group(item.get_group(), item.get_global_id(0) >= GROUP); },
      [](int i) { return i >= GROUP; });
}
bool group_any(sycl::queue &q) {
  return over_groups<class Any>(
      q, [](auto item) { return sycl::any_of_group(item.get_group(), item.get_global_id(0) == 40); },
      [](int i) { return i / GROUP == 40 / GROUP; });
}
bool group_none(sycl::queue &q) {
  return over_groups<class None>(
      q, [](auto item) { return sycl::none_of_group(item.get_group(), item.get_global_id(0) == 40); },
      [](int i) { return i / GROUP != 40 / GROUP; });
}
bool group_exclusive(sycl::queue &q) {
  return over_groups<class Exclusive>(
      q, [](auto item) { return sycl::exclusive_scan_over_group(item.get_group(), local(item), sycl::plus<int>()); },
      [](int i) { return (i % GROUP) * (i % GROUP - 1) / 2; });
}
bool group_inclusive(sycl::queue &q) {
  return over_groups<class Inclusive>(
      q, [](auto item) { return sycl::inclusive_scan_over_group(item.get_group(), local(item), sycl::maximum<int>()); },
      [](int i) { return i % GROUP; });
}
bool group_broadcast(sycl::queue &q) {
  return over_groups<class Broadcast>(
      q, [](auto item) { return sycl::group_broadcast(item.get_group(), local(item), 5); }, [](int) { return 5; });
}
bool group_reduce(sycl::queue &q) {
  return over_groups<class Reduce>(
      q, [](auto item) { return sycl::reduce_over_group(item.get_group(), local(item), sycl::plus<int>()); },
      [](int) { return GROUP * (GROUP - 1) / 2; });
}
bool group_leader(sycl::queue &q) {
  return over_groups<class Leader>(
      q, [](auto item) { return item.get_group().leader() ? 1 : 0; }, [](int i) { return i % GROUP == 0; });
}
bool group_barrier(sycl::queue &q) {
  Shared<int> out(q);
  int *at = out.at;
  q.submit([&](sycl::handler &h) {
     sycl::local_accessor<int, 1> held(GROUP, h);
     h.parallel_for<class Barrier>(GROUPS, [=](sycl::nd_item<1> item) {
       held[local(item)] = local(item);
       sycl::group_barrier(item.get_group());
       at[item.get_global_id(0)] = held[GROUP - 1 - local(item)];
     });
   }).wait();
  for (int i = 0; i < N; i++)
    if (at[i] != GROUP - 1 - i % GROUP)
      return false;
  return true;
}
// Sub-groups of 16, which each device here has.
template <typename Name, typename Body> bool over_sub_groups(sycl::queue &q, Body body, std::function<int(int)> want) {
  Shared<int> out(q, -1);
  int *at = out.at;
  q.parallel_for<Name>(GROUPS, [=](sycl::nd_item<1> item) [[sycl::reqd_sub_group_size(16)]] {
     at[item.get_global_id(0)] = body(item.get_sub_group());
   }).wait();
  for (int i = 0; i < N; i++)
    if (at[i] != want(i % 16))
      return false;
  return true;
}
int lane(sycl::sub_group group) { return static_cast<int>(group.get_local_linear_id()); }
bool group_permute(sycl::queue &q) {
  bool exchanged = over_sub_groups<class Permute>(
      q, [](auto group) { return sycl::permute_group_by_xor(group, lane(group), 3); }, [](int i) { return i ^ 3; });
  return exchanged && over_sub_groups<class Select>(
                          q, [](auto group) { return sycl::select_from_group(group, lane(group), 2); },
                          [](int) { return 2; });
}
bool group_shift(sycl::queue &q) {
  return over_sub_groups<class Shift>(
      q,
      [](auto group) {
        int left = sycl::shift_group_left(group, lane(group), 1), right = sycl::shift_group_right(group, lane(group), 1);
        return lane(group) == 0 || lane(group) == 15 ? 0 : left * 100 + right;
      },
      [](int i) { return i == 0 || i == 15 ? 0 : (i + 1) * 100 + i - 1; });
}
bool sub_barrier(sycl::queue &q) {
  Shared<int> out(q);
  int *at = out.at;
  q.parallel_for<class SubBarrier>(GROUPS, [=](sycl::nd_item<1> item) {
     int i = item.get_global_id(0);
     at[i] = i;
     sycl::group_barrier(item.get_sub_group());
     int first = i - lane(item.get_sub_group());
     int found = at[first];
     sycl::group_barrier(item.get_sub_group());
     at[i] = found - first;
   }).wait();
  return std::all_of(at, at + N, [](int found) { return found == 0; });
}
bool sub_broadcast(sycl::queue &q) {
  return over_sub_groups<class SubBroadcast>(
      q, [](auto group) { return sycl::group_broadcast(group, lane(group) * 2, 4); }, [](int) { return 8; });
}
bool sub_info(sycl::queue &q) {
  bool sizes = over_sub_groups<class SubInfo>(
      q, [](auto group) { return static_cast<int>(group.get_max_local_range()[0]); }, [](int) { return 16; });
  return sizes && !q.get_device().get_info<sycl::info::device::sub_group_sizes>().empty();
}
bool sub_vote(sycl::queue &q) {
  return over_sub_groups<class Vote>(
      q, [](auto group) { return sycl::any_of_group(group, lane(group) == 3) + 2 * sycl::all_of_group(group, true); },
      [](int) { return 3; });
}
bool sub_reduce_double(sycl::queue &q) {
  return over_sub_groups<class SubDouble>(
      q, [](auto group) { return int(2 * sycl::reduce_over_group(group, 0.5 * lane(group), sycl::plus<double>())); },
      [](int) { return 120; });
}
bool sub_reduce_half(sycl::queue &q) {
  return over_sub_groups<class SubHalf>(
      q,
      [](auto group) {
        return int(sycl::reduce_over_group(group, sycl::half(float(lane(group))), sycl::maximum<sycl::half>()));
      },
      [](int) { return 15; });
}
bool sub_scan(sycl::queue &q) {
  return over_sub_groups<class SubScan>(
      q, [](auto group) { return sycl::inclusive_scan_over_group(group, 1, sycl::plus<int>()); },
      [](int i) { return i + 1; });
}

bool usm_copy(sycl::queue &q) {
  std::vector<int> from(N), to(N);
  std::iota(from.begin(), from.end(), 3);
  int *device = sycl::malloc_device<int>(N, q);
  q.copy(from.data(), device, N).wait();
  q.copy(device, to.data(), N).wait();
  sycl::free(device, q);
  return from == to;
}
bool usm_memcpy(sycl::queue &q) {
  int *device = sycl::malloc_device<int>(N, q), *host = sycl::malloc_host<int>(N, q);
  std::iota(host, host + N, 0);
  q.memcpy(device, host, N * sizeof(int)).wait();
  q.parallel_for<class Memcpy>(sycl::range<1>(N), [=](sycl::id<1> i) { device[i] *= 2; }).wait();
  q.memcpy(host, device, N * sizeof(int)).wait();
  bool right = host[N - 1] == 2 * (N - 1);
  sycl::free(device, q);
  sycl::free(host, q);
  return right;
}
bool usm_memset(sycl::queue &q) {
  Shared<int> out(q, 1);
  q.memset(out.at, 0x11, N * sizeof(int)).wait();
  return std::all_of(out.at, out.at + N, [](int found) { return found == 0x11111111; });
}
bool usm_fill(sycl::queue &q) {
  Shared<double> out(q);
  q.fill(out.at, 2.5, N).wait();
  return std::all_of(out.at, out.at + N, [](double found) { return found == 2.5; });
}
bool usm_depends(sycl::queue &q) {
  Shared<int> out(q, 1);
  int *at = out.at;
  auto first = q.parallel_for<class First>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] += 1; });
  auto second = q.submit([&](sycl::handler &h) {
    h.depends_on(first);
    h.parallel_for<class Second>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] *= 10; });
  });
  second.wait();
  return at[0] == 20 && at[N - 1] == 20;
}
bool usm_flatten(sycl::queue &q) {
  Shared<int> out(q, 0, 6 * 4);
  int *at = out.at;
  q.parallel_for<class Flatten>(sycl::range<2>(6, 4), [=](sycl::item<2> item) {
     at[item.get_linear_id()] = static_cast<int>(item.get_id(0) * 4 + item.get_id(1));
   }).wait();
  return at[23] == 23 && at[5] == 5;
}
struct Node { // lists whose nodes lie in memory of one kind
  Node *next;
  int number;
};
template <typename Name> bool list(sycl::queue &q, sycl::usm::alloc kind) {
  std::vector<Node *> nodes;
  for (int i = 0; i < 8; i++)
    nodes.push_back(sycl::malloc<Node>(1, q, kind));
  for (int i = 0; i < 8; i++) {
    Node node{i < 7 ? nodes[i + 1] : nullptr, i};
    q.memcpy(nodes[i], &node, sizeof node).wait();
  }
  Shared<int> sum(q, 0, 1);
  int *at = sum.at;
  Node *head = nodes[0];
  q.single_task<Name>([=] {
     for (Node *node = head; node; node = node->next)
       *at += node->number;
   }).wait();
  for (Node *node : nodes)
    sycl::free(node, q);
  return *at == 28;
}
bool usm_shared_list(sycl::queue &q) { return list<class SharedList>(q, sycl::usm::alloc::shared); }
bool usm_device_list(sycl::queue &q) { return list<class DeviceList>(q, sycl::usm::alloc::device); }
bool usm_host_list(sycl::queue &q) { return list<class HostList>(q, sycl::usm::alloc::host); }
bool usm_vector(sycl::queue &q) {
  sycl::usm_allocator<int, sycl::usm::alloc::shared> allocator(q);
  std::vector<int, decltype(allocator)> held(N, 4, allocator);
  int *at = held.data();
  q.parallel_for<class Vector>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] += static_cast<int>(i); }).wait();
  return held[0] == 4 && held[N - 1] == N + 3;
}
bool usm_queue_wait(sycl::queue &q) {
  Shared<int> out(q);
  int *at = out.at;
  q.parallel_for<class QueueWait>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] = 6; });
  q.wait();
  return at[N - 1] == 6;
}
bool usm_query(sycl::queue &q) {
  Shared<int> out(q);
  int *device = sycl::malloc_device<int>(1, q), here = 0;
  bool right = sycl::get_pointer_type(out.at, q.get_context()) == sycl::usm::alloc::shared &&
               sycl::get_pointer_type(device, q.get_context()) == sycl::usm::alloc::device &&
               sycl::get_pointer_type(&here, q.get_context()) == sycl::usm::alloc::unknown;
  sycl::free(device, q);
  return right;
}

bool reduction_usm(sycl::queue &q) {
  Shared<int> sum(q, 5, 1);
  q.parallel_for<class SumUsm>(GROUPS, sycl::reduction(sum.at, sycl::plus<int>()),
                               [](sycl::nd_item<1> item, auto &total) { total += static_cast<int>(item.get_global_id(0)); })
      .wait();
  return *sum.at == 5 + N * (N - 1) / 2;
}
bool reduction_range(sycl::queue &q) {
  int most = 0;
  {
    sycl::buffer<int> held(&most, 1);
    q.submit([&](sycl::handler &h) {
      h.parallel_for<class MaxRange>(
          sycl::range<1>(N), sycl::reduction(held, h, sycl::maximum<int>(), {sycl::property::reduction::initialize_to_identity{}}),
          [](sycl::id<1> i, auto &seen) { seen.combine(static_cast<int>((i * 37) % 101)); });
    });
  }
  return most == 100;
}
bool reduction_several(sycl::queue &q) {
  Shared<int> sum(q, 0, 1);
  Shared<float> most(q, 0.0f, 1);
  q.parallel_for<class Several>(GROUPS, sycl::reduction(sum.at, sycl::plus<int>()),
                                sycl::reduction(most.at, sycl::maximum<float>()),
                                [](sycl::nd_item<1> item, auto &total, auto &top) {
                                  total += 1;
                                  top.combine(item.get_global_id(0) / 2.0f);
                                })
      .wait();
  return *sum.at == N && *most.at == (N - 1) / 2.0f;
}
bool reduction_span(sycl::queue &q) {
  Shared<int> sums(q, 0, 4);
  q.parallel_for<class Span>(sycl::range<1>(N), sycl::reduction(sycl::span<int, 4>(sums.at, 4), sycl::plus<int>()),
                             [](sycl::id<1> i, auto &totals) { totals[i % 4] += 1; })
      .wait();
  return std::all_of(sums.at, sums.at + 4, [](int found) { return found == N / 4; });
}

bool basic_buffer(sycl::queue &q) {
  std::vector<int> held(N, 1);
  {
    sycl::buffer<int> buffer(held.data(), sycl::range<1>(N));
    q.submit([&](sycl::handler &h) {
      sycl::accessor to(buffer, h, sycl::read_write);
      h.parallel_for<class Buffer>(sycl::range<1>(N), [=](sycl::id<1> i) { to[i] += static_cast<int>(i); });
    });
  }
  return held[0] == 1 && held[N - 1] == N;
}
bool basic_subbuffer(sycl::queue &q) {
  std::vector<int> held(N, 0);
  {
    sycl::buffer<int> buffer(held.data(), sycl::range<1>(N));
    sycl::buffer<int> part(buffer, sycl::id<1>(N / 2), sycl::range<1>(N / 2));
    q.submit([&](sycl::handler &h) {
      sycl::accessor to(part, h, sycl::write_only);
      h.parallel_for<class Part>(part.get_range(), [=](sycl::id<1> i) { to[i] = 9; });
    });
  }
  return held[N / 2 - 1] == 0 && held[N / 2] == 9 && held[N - 1] == 9;
}
bool basic_reinterpret(sycl::queue &q) {
  std::vector<float> held(N, 1.0f);
  {
    sycl::buffer<float> buffer(held.data(), sycl::range<1>(N));
    auto whole = buffer.reinterpret<int>(sycl::range<1>(N));
    q.submit([&](sycl::handler &h) {
      sycl::accessor to(whole, h, sycl::write_only);
      h.parallel_for<class Reinterpret>(sycl::range<1>(N), [=](sycl::id<1> i) { to[i] = 0x40000000; });
    });
  }
  return held[0] == 2.0f && held[N - 1] == 2.0f;
}
bool basic_bit_cast(sycl::queue &q) {
  Shared<unsigned> out(q);
  unsigned *at = out.at;
  q.parallel_for<class BitCast>(sycl::range<1>(N), [=](sycl::id<1> i) {
     at[i] = sycl::bit_cast<unsigned>(sycl::bit_cast<float>(0x3F800000u) + 1.0f);
   }).wait();
  return at[0] == 0x40000000u;
}
bool basic_vectors(sycl::queue &q) {
  Shared<int> out(q, 0, 4);
  int *at = out.at;
  q.single_task<class Vectors>([=] {
     sycl::int4 a{1, 2, 3, 4}, b = a.swizzle<3, 2, 1, 0>() + a;
     sycl::marray<int, 4> c{b[0], b[1], b[2], b[3]};
     for (int i = 0; i < 4; i++)
       at[i] = c[i] * (sycl::all(a == a) ? 1 : 0);
   }).wait();
  return std::all_of(at, at + 4, [](int found) { return found == 5; });
}
bool basic_barrier(sycl::queue &) {
  sycl::queue in_any_order{sycl::cpu_selector_v};
  Shared<int> out(in_any_order, 1);
  int *at = out.at;
  in_any_order.parallel_for<class Before>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] += 1; });
  in_any_order.ext_oneapi_submit_barrier();
  in_any_order.parallel_for<class After>(sycl::range<1>(N), [=](sycl::id<1> i) { at[i] *= 3; }).wait();
  return at[0] == 6 && at[N - 1] == 6;
}
bool basic_math(sycl::queue &q) {
  Shared<float> out(q);
  float *at = out.at;
  q.parallel_for<class Math>(sycl::range<1>(N), [=](sycl::id<1> i) {
     float x = static_cast<float>(i) / N;
     at[i] = sycl::sin(x) * sycl::sin(x) + sycl::cos(x) * sycl::cos(x) + sycl::log(sycl::exp(x)) - x;
   }).wait();
  return std::all_of(at, at + N, [](float found) { return sycl::fabs(found - 1.0f) < 1e-5f; });
}

const struct Check {
  const char *file;
  bool (*run)(sycl::queue &);
} CHECKS[] = {
    {"AtomicRef/add.cpp", atomic_add},
    {"AtomicRef/sub.cpp", atomic_sub},
    {"AtomicRef/and.cpp", atomic_and},
    {"AtomicRef/or.cpp", atomic_or},
    {"AtomicRef/xor.cpp", atomic_xor},
    {"AtomicRef/min.cpp", atomic_min},
    {"AtomicRef/max.cpp", atomic_max},
    {"AtomicRef/exchange.cpp", atomic_exchange},
    {"AtomicRef/compare_exchange.cpp", atomic_compare},
    {"AtomicRef/load.cpp", atomic_load},
    {"AtomicRef/store.cpp", atomic_store},
    {"AtomicRef/add_local.cpp", atomic_local},
    {"GroupAlgorithm/SYCL2020/all_of.cpp", group_all},
    {"GroupAlgorithm/SYCL2020/any_of.cpp", group_any},
    {"GroupAlgorithm/SYCL2020/none_of.cpp", group_none},
    {"GroupAlgorithm/SYCL2020/exclusive_scan.cpp", group_exclusive},
    {"GroupAlgorithm/SYCL2020/inclusive_scan.cpp", group_inclusive},
    {"GroupAlgorithm/SYCL2020/group_broadcast.cpp", group_broadcast},
    {"GroupAlgorithm/SYCL2020/reduce.cpp", group_reduce},
    {"GroupAlgorithm/SYCL2020/permute_select.cpp", group_permute},
    {"GroupAlgorithm/SYCL2020/shift_left_right.cpp", group_shift},
    {"GroupAlgorithm/leader.cpp", group_leader},
    {"GroupAlgorithm/barrier.cpp", group_barrier},
    {"SubGroup/barrier.cpp", sub_barrier},
    {"SubGroup/broadcast.cpp", sub_broadcast},
    {"SubGroup/info.cpp", sub_info},
    {"SubGroup/vote.cpp", sub_vote},
    {"SubGroup/reduce_fp64.cpp", sub_reduce_double},
    {"SubGroup/reduce_fp16.cpp", sub_reduce_half},
    {"SubGroup/scan.cpp", sub_scan},
    {"USM/copy.cpp", usm_copy},
    {"USM/memcpy.cpp", usm_memcpy},
    {"USM/memset.cpp", usm_memset},
    {"USM/fill.cpp", usm_fill},
    {"USM/depends_on.cpp", usm_depends},
    {"USM/pfor_flatten.cpp", usm_flatten},
    {"USM/smemll.cpp", usm_shared_list},
    {"USM/dmemll.cpp", usm_device_list},
    {"USM/hmemll.cpp", usm_host_list},
    {"USM/allocator_vector.cpp", usm_vector},
    {"USM/queue_wait.cpp", usm_queue_wait},
    {"USM/pointer_query.cpp", usm_query},
    {"Reduction/reduction_usm.cpp", reduction_usm},
    {"Reduction/reduction_range_1d_dw.cpp", reduction_range},
    {"Reduction/reduction_nd_N_vars.cpp", reduction_several},
    {"Reduction/reduction_span.cpp", reduction_span},
    {"Basic/buffer/buffer.cpp", basic_buffer},
    {"Basic/buffer/subbuffer.cpp", basic_subbuffer},
    {"Basic/buffer/reinterpret.cpp", basic_reinterpret},
    {"Basic/bit_cast/bit_cast.cpp", basic_bit_cast},
    {"Basic/built-ins/marray_operators.cpp", basic_vectors},
    {"Basic/enqueue_barrier.cpp", basic_barrier},
    {"USM/math.cpp", basic_math},
};
} // namespace

int main(int count, char **words) {
  sycl::queue queue{sycl::cpu_selector_v};
  int wrong = 0;
  for (const Check &check : CHECKS) {
    if (count > 1 && std::strcmp(words[1], check.file) != 0)
      continue;
    std::string said = "wrong";
    try {
      said = check.run(queue) ? "ok" : "wrong";
    } catch (const std::exception &error) {
      said = std::string("wrong: ") + error.what();
    }
    wrong += said != "ok";
    std::printf("%s %s\n", check.file, said.c_str());
    std::fflush(stdout);
  }
  return wrong != 0;
}
