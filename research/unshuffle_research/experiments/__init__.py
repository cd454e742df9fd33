"""The experiments of Lai et al. (EMNLP 2021), each a function from data to a sheet of tables, plots and raw figures."""
