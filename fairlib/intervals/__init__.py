"""Beyond the papers: intervals, power, gaps and sequences of looks."""
