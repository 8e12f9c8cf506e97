"""The drawings of the lessons: one module per lesson.

A function draws numbers that the lesson has computed, and returns the figure. It
computes no statistic. With `narrow=True` it draws the same for the width of a phone.
"""
