package targetset

// Foreign reports whether a group has labels of pods outside the namespace of its object.
func (f *Followed) Foreign(key Key) bool {
	return key.Discovery >= 0 && key.Discovery < len(f.subs) && f.subs[key.Discovery].Foreign(key.Source)
}
