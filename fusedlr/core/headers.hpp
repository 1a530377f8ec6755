// Everything that must be compiled for the baseline instruction set, before a file switches to a wider one.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "core.hpp"
#include "graph.hpp"
#include "tree_prox.hpp"
