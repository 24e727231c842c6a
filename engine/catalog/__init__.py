"""What a warehouse knows: datasets, series, releases, periods, levels."""
