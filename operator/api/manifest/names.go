package manifest

// Child returns the path of a field of an object. An ambiguous name is quoted:
// Child("metadata.labels", "a.b") is `metadata.labels["a.b"]`.
func Child(path, name string) string { return child(path, name) }
