"""Is this right? If not, why? Claims, known mistakes, diagnosis, quizzes."""
