package watch

// Foreign reports whether the group of a source has labels of pods in other namespaces than that of
// its object, which refers to them.
func (s *Subscription) Foreign(source string) bool {
	if s.confined {
		return false
	}
	namespace := namespaceOf(source)
	for _, l := range s.leases {
		if l.view.foreign(namespace, source) {
			return true
		}
	}
	return false
}

func (v *view) foreign(namespace, source string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.groups[namespace][source].confined != nil
}
