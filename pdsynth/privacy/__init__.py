"""What is paid: noise, mechanisms, the ledger and its rules, and the one door to the records."""
