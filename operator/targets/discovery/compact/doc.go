// Package compact stores target groups in little memory: labels are pairs of indices into a table
// of strings that all groups share. It does no I/O.
//
//	table.go  strings and their indices
//	group.go  groups: put, drop, compare, expand
//
//	var t compact.Table
//	group := t.Put(targetgroup)
//	again := t.Expand(group)
package compact
