"""Where isa/interpolator.json comes from: `measure` asks a GPU, `derive` finds the coefficients."""
