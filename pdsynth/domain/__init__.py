"""What is publicly known of a table: attributes, schema, and the codes that stand for values."""
