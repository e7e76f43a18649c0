// Package compact keeps target groups in little memory: labels are pairs of numbers of one
// table of strings, which all groups share. It is pure.
//
//	table.go  strings and their numbers
//	group.go  groups: put, replaced, dropped, written out again
//
//	var t compact.Table
//	group := t.Put(targetgroup)
//	again := t.Expand(group)
package compact
