// Package autoscale decides how many shards a workload should have, from the series of its targets.
//
//	scaler.go  the steps and their rules
//
//	                    series > 90 %, or a full shard, for 5 min          at most 25 % more (at least 1) in 10 min
//	           n shards ─────────────────────────────────────────────▶ more shards
//	           n shards ─────────────────────────────────────────────▶ n-1 shards get targets, the last one drains
//	                    series of n-1 shards < 70 % for an hour            at most one in 2 h
//	  n-1 get targets   ─────────────────────────────────────────────▶ n-1 shards
//	                    the last one has been without targets for a minute
//	  n-1 get targets   ─────────────────────────────────────────────▶ n shards
//	                    series > 90 % of what n-1 shards should have
//
// Percentages are of the series that the shards should have at most together. With zones, all numbers change by one shard
// in each zone. The number of shards is never less than the floor, which users set, and never more than the limit.
//
// With a speed, the times but that of the drained shard are shorter.
//
// It has no clock and no I/O. What it decided is a [scaling.Workload], from which a new leader continues. Its waiting times
// start again then, and whenever the targets or pods are unknown: no decision is based on incomplete data.
package autoscale
