// The logistic loss: value, derivatives, conjugate and a bound on the curvature. Nothing else in the core knows which
// loss it is.
//
// A label of sign y = +-1 and weight w adds  w log(1 + exp(-y z))  at the linear predictor z, offset included. With
// p = 1 / (1 + exp(y z)), the probability of the other label, its first derivative in z is -w y p and its second
// w p (1 - p). The conjugate is finite for residuals w y p with p in [0, 1]:  w (p log p + (1 - p) log(1 - p)).
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include "isa.hpp"
#include "rows.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Loss at a linear predictor with its first and second derivatives, all [task][row of its range].
struct Derivatives {
  LabelTable linear, first, second;
  double loss = 0;
  Derivatives() = default;
  explicit Derivatives(const Ranges &ranges) : linear(ranges), first(ranges), second(ranges) {}
  void swap(Derivatives &other) {
    linear.swap(other.linear);
    first.swap(other.first);
    second.swap(other.second);
    std::swap(loss, other.loss);
  }
};

constexpr double MOST_CURVATURE = 0.25;  // of a label of weight 1: p (1 - p)

// Puts the derivatives at the linear predictor of `at` there, and returns the loss.
inline double logistic_loss(const LabelTable &signs, const LabelTable &weights, Derivatives &at) {
  const Vec *linear = as_vec(at.linear.get()), *sign = as_vec(signs.get()), *weight = as_vec(weights.get());
  Vec *first = as_vec(at.first.get()), *second = as_vec(at.second.get());
  Vec sum{};
  const std::size_t count = signs.size() / LANES;
  for (std::size_t i = 0; i < count; i++) {
    const Vec margin = sign[i] * linear[i];
    const Bits right = margin > 0.0;
    const Vec size = right ? margin : -margin;
    const Vec small = exp_negative(-size);
    const Vec inverse = 1.0 / (1.0 + small);
    const Vec share = small * inverse;
    first[i] = -weight[i] * sign[i] * (right ? share : inverse);
    second[i] = weight[i] * share * inverse;
    sum = multiply_add(weight[i], log_one_plus(small) + (right ? Vec{} : size), sum);
  }
  at.loss = total(sum);
  return at.loss;
}

// Probability of a label 1 at a linear predictor, and its derivative.
struct Chance {
  double value, slope;
  explicit Chance(double linear) {
    const double small = std::exp(-std::fabs(linear)), large = 1 / (1 + small);
    value = linear > 0 ? large : small * large;
    slope = small * large * large;
  }
};

// For residuals -moved close to those of a linear predictor, -at.first: whether all are well within the domain of the
// conjugate, and a bound on by how much the conjugates exceed their tangents. A move of half the curvature w p (1 - p)
// leaves 7/16 of it at least, so the second derivative of the conjugate, 1 / curvature, grows to 16/7 at most.
inline bool conjugate_rise(const Derivatives &at, const LabelTable &moved, double &rise) {
  Vec sum{};
  Bits outside{};
  for (std::size_t i = 0; i < moved.size() / LANES; i++) {
    const Vec by = as_vec(moved.get())[i] - as_vec(at.first.get())[i];
    const Vec curvature = as_vec(at.second.get())[i];
    outside |= ~((by > 0.0 ? by : -by) <= 0.5 * curvature);
    sum += by != 0.0 ? 2.0 * by * by / curvature : Vec{};
  }
  for (int lane = 0; lane < LANES; lane++)
    if (outside[lane]) return false;
  rise = total(sum);
  return true;
}

}  // namespace fusedlr::FUSEDLR_ISA
