package manifest

// Child is the path of a field of an object; a name that would read like several is
// quoted: Child("metadata.labels", "a.b") is `metadata.labels["a.b"]`.
func Child(path, name string) string { return child(path, name) }
