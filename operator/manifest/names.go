package manifest

// Distance counts the letters to insert, remove, replace or swap with their neighbour
// until a is b.
func Distance(a, b string) int { return distance(a, b) }

// Child is the path of a field of an object; a name that would read like several is
// quoted: Child("metadata.labels", "a.b") is `metadata.labels["a.b"]`.
func Child(path, name string) string { return child(path, name) }
