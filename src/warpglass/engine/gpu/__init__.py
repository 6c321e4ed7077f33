"""The GPU back end: the same PTX through the CUDA driver, and its measurements by Nsight Compute."""
