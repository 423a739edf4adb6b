// The whole vocabulary. Operator expressions see it through `using namespace trine::math`.
#pragma once

#include "base.h"
#include "bessel.h"
#include "complex.h"
#include "exact.h"
#include "exp_log.h"
#include "half.h"
#include "hyperbolic.h"
#include "incomplete_gamma.h"
#include "orthogonal.h"
#include "rounding.h"
#include "special.h"
#include "trig.h"
