// Polls for an interrupt some 20 times a second: polling takes the lock of the caller's interpreter.
#pragma once

#include <chrono>

#include "core.hpp"
#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

class StopCheck {
 public:
  bool stop_requested(const Settings &settings) {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    return settings.stop && settings.stop();
  }

 private:
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace fusedlr::FUSEDLR_ISA
