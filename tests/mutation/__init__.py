"""`./dev mutate`: small faults put into a module one at a time; one that no test notices shows what is not tested."""
