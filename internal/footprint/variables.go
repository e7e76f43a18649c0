package footprint

import "github.com/firekeeper-dev/firekeeper/internal/variables"

// Substitution returns by how many bytes a text can grow when config-reloader substitutes
// the variables in it. A short reference to a long variable grows to many times its size.
func Substitution(text []byte) (growth int) {
	for start, end := range variables.All(text) {
		growth += max(0, variables.Size(variables.Name(text[start:end]))-(end-start))
	}
	return growth
}
