package watch

// Foreign reports whether the group of a source has labels of pods outside the namespace of its
// object.
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
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.groups[namespace][source].confined != nil
}
