// Package envelope writes what was measured at growing sizes as a section of a page: for each part a table with a column
// for each size, and for each cost how it grows, as a formula that was fitted and compared with the table.
//
//	parts.go     what is measured, at which sizes: the layout
//	unit.go      how a cost is written
//	write.go     a part as text
//	sentence.go  a formula as a sentence
//	section.go   the section of the page, of which each part is replaced on its own
package envelope
