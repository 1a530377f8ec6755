// Arrays of doubles for vectors, in the namespace of one instruction set (see solver.hpp).

inline int padded(int k) { return (k + PAD - 1) / PAD * PAD; }

// Doubles aligned for vectors, zero at first.
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(std::size_t count) { resize(count); }
  Numbers(const Numbers &) = delete;
  Numbers &operator=(const Numbers &) = delete;
  ~Numbers() { release(); }
  void resize(std::size_t count) {
    release();
    data_ = static_cast<double *>(::operator new((count + PAD) * sizeof(double), std::align_val_t(64)));
    std::fill(data_, data_ + count + PAD, 0.0);
  }
  void swap(Numbers &other) { std::swap(data_, other.data_); }
  double *get() const { return data_; }
  double &operator[](std::size_t i) const { return data_[i]; }

 private:
  void release() {
    if (data_) ::operator delete(data_, std::align_val_t(64));
    data_ = nullptr;
  }
  double *data_ = nullptr;
};

// Loss at a linear predictor with its first and second derivatives, all [task][row].
struct Slopes {
  Numbers linear, first, second;
  double loss = 0;
  explicit Slopes(std::size_t count) : linear(count), first(count), second(count) {}
  void swap(Slopes &other) {
    linear.swap(other.linear);
    first.swap(other.first);
    second.swap(other.second);
    std::swap(loss, other.loss);
  }
};
