"""Generated worlds: their facts, their documents, questions about them, and who answers these."""
