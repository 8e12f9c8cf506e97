"""Beyond the papers: intervals, power, gaps of many groups, and sequences of looks."""
