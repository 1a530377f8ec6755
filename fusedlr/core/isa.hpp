// The instruction set that the solver is compiled for: the name of its namespace, and the doubles in a vector.
//
// The same headers are compiled once for each of core_*.cpp, which defines both before it includes them. Whatever comes
// after that is compiled for the wider set, so it must stand in the namespace of that set: of inline functions of the
// same name the linker keeps any one, also for CPUs that cannot run it. For the same reason these files include the
// standard library first (standard.hpp).
#pragma once

#ifndef FUSEDLR_ISA
#define FUSEDLR_ISA base
#define FUSEDLR_LANES 2
#endif

namespace fusedlr::FUSEDLR_ISA {

constexpr int LANES = FUSEDLR_LANES;

}  // namespace fusedlr::FUSEDLR_ISA
