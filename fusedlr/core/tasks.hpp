// The number of tasks of a block, and scratch space for it.
//
// Code is written once for any number of tasks. Where a block takes a few operations, loops over its tasks should be
// unrolled: there the number is a type, std::integral_constant or int, and with_tasks chooses between the two.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Calls act with the number of tasks, as a constant if it is small.
template <class Act>
inline auto with_tasks(int tasks, const Act &act) {
  switch (tasks) {
    case 1:
      return act(std::integral_constant<int, 1>());
    case 2:
      return act(std::integral_constant<int, 2>());
    case 3:
      return act(std::integral_constant<int, 3>());
    case 4:
      return act(std::integral_constant<int, 4>());
    case 5:
      return act(std::integral_constant<int, 5>());
    case 6:
      return act(std::integral_constant<int, 6>());
    case 7:
      return act(std::integral_constant<int, 7>());
    case 8:
      return act(std::integral_constant<int, 8>());
    default:
      return act(tasks);
  }
}

// Times numbers for each task and Extra more, uninitialised; on the stack for up to MOST tasks.
template <class Tasks, int Times, int Extra = 0, class Item = double>
class Scratch {
 public:
  explicit Scratch(int tasks) {
    if (tasks > MOST) beyond_.reset(new Item[Times * static_cast<std::size_t>(tasks) + Extra]);
  }
  Item *get() { return beyond_ ? beyond_.get() : items_; }

 private:
  static constexpr int MOST = 16;
  Item items_[Times * MOST + Extra];
  std::unique_ptr<Item[]> beyond_;
};
template <int T, int Times, int Extra, class Item>
class Scratch<std::integral_constant<int, T>, Times, Extra, Item> {
 public:
  explicit Scratch(int) {}
  Item *get() { return items_; }

 private:
  Item items_[Times * T + Extra];
};

}  // namespace fusedlr::FUSEDLR_ISA
