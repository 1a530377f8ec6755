"""Discrete AdaBoost in R, twice: by the package ``ada``, and by a function of our own on ``rpart`` alone.

An engine is an R function of the features (``frame$x``, a matrix), labels 0 and 1, the arguments of ``ada`` and
rpart's control. It returns a function from new rows to margins. ``source`` puts it into an R function that both
share, which sets the random seeds and builds the design of new rows.

Our own follows Culp, Johnson and Michailidis (2006), "ada: an R package for stochastic boosting". Details that the
paper leaves open, but on which the last bit depends, are as fits of ``ada`` show them:

- All bags are drawn before the first tree. A bag ends with a member of each class, of which the yes is drawn first;
  the others come before them. If nothing is left out, it is all rows in their order, and nothing is drawn.
- A class with one member, row k, has its member drawn by ``sample(k, 1)``, which in R draws from the rows 1 to k.
  The same holds where a single row is left to draw the others from.
- The error of a tree is the weighted error on all rows. Where it is 0 or 1 up to rounding, it is moved by 0.0001
  towards the other; any other error, however small, is taken as it is.
- Weights are recomputed from the sum of the trees in each round, and margins by ``rowSums``.

With a ``nu`` of 2 or more weights may differ by thirty orders of magnitude and more. There ``rpart`` itself may give
another tree when it is called again, and neither engine reproduces its own margins.
"""

__all__ = ["PACKAGES", "source"]

#: Packages of R that each engine needs, in the order of loading.
PACKAGES = {"ada": ("rpart", "ada"), "rpart": ("rpart",)}

# predict() takes a matrix with a "terms" attribute as the finished design: rpart names the
# columns of the matrix x "x1", "x2", ..., and a single column "x".
_SHARED = """
local({
design <- function(x) {
    x <- unclass(x)
    colnames(x) <- if (ncol(x) == 1L) "x" else paste0("x", seq_len(ncol(x)))
    attr(x, "terms") <- TRUE
    x
}
engine <- ENGINE
function(x, y, new, arguments, control, kind, seeds) {
    had_seed <- exists(".Random.seed", globalenv(), inherits = FALSE)
    old_kind <- RNGkind()
    old_seed <- if (had_seed) get(".Random.seed", globalenv(), inherits = FALSE)
    on.exit({
        suppressWarnings(do.call(RNGkind, as.list(old_kind)))
        if (had_seed) assign(".Random.seed", old_seed, globalenv()) else set.seed(NULL)
        RNGkind()  # reads the seed again: whoever called R from R would write back the one he finds there
        if (!had_seed) rm(".Random.seed", envir = globalenv())
    })
    RNGkind(kind[1L], kind[2L], kind[3L])
    set.seed(seeds[1L])
    margins <- engine(data.frame(x = I(x)), as.vector(y), arguments, do.call(rpart::rpart.control, control))
    set.seed(seeds[2L])
    as.numeric(margins(design(new)))
}
})
"""

_ADA = """function(frame, labels, arguments, control) {
    fit <- do.call(ada::ada, c(list(x = quote(frame), y = quote(labels)), arguments,
                               list(control = quote(control), na.action = quote(rpart::na.rpart))))
    function(new) predict(fit, new, type = "F")
}"""

_RPART = """function(frame, labels, arguments, control) {
    n <- nrow(frame)
    rounds <- seq_len(arguments$iter)
    left_out <- floor(arguments$bag.frac * n)
    frame$y <- ifelse(labels == 1, 1, -1)
    draw <- function(round) {
        if (left_out == n) return(seq_len(n))
        yes <- sample(which(frame$y == 1), 1L)
        no <- sample(which(frame$y == -1), 1L)
        c(sample(seq_len(n)[-c(yes, no)], n - left_out - 2), yes, no)
    }
    votes <- function(tree, x) {
        class <- predict(tree, x, type = "class")
        as.numeric(levels(class))[class]
    }
    bags <- lapply(rounds, draw)
    seen <- design(frame$x)
    trees <- list()
    steps <- numeric()
    total <- numeric(n)
    w <- rep(1 / n, n)
    for (m in rounds) {
        bag <- bags[[m]]
        trees[[m]] <- rpart::rpart(y ~ x, frame[bag, ], weights = w[bag], method = "class", control = control)
        vote <- votes(trees[[m]], seen)
        err <- sum(w * (vote != frame$y))
        if (1 - err == 1 || err == 1) err <- 0.0001 * (1 - err) + 0.9999 * err
        steps[m] <- arguments$nu * 0.5 * log((1 - err) / err)
        total <- total + steps[m] * vote
        w <- exp(-frame$y * total)
        w <- w / sum(w)
    }
    function(new) {
        parts <- vapply(rounds, function(m) steps[m] * votes(trees[[m]], new), numeric(nrow(new)))
        rowSums(matrix(parts, nrow(new)))
    }
}"""


def source(by: str) -> str:
    """Source of the R function that boosts by an engine, one of ``PACKAGES``."""
    return _SHARED.replace("ENGINE", {"ada": _ADA, "rpart": _RPART}[by])
