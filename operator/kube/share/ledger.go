package share

// Ledger tracks the memory of keys and selects which ones to evict when it exceeds Room: the largest
// of the namespaces that use most, as in [Divide]. It is not safe for concurrent use.
type Ledger[K comparable] struct {
	Room int // bytes

	held  map[K]Object
	total int
}

// Set sets the size of a key; 0 bytes remove it. It returns the keys to evict, which count until
// their size is set to 0.
func (l *Ledger[K]) Set(who K, o Object) (evict []K) {
	l.total += o.Bytes - l.held[who].Bytes
	if o.Bytes == 0 {
		delete(l.held, who)
		return nil
	}
	if l.held == nil {
		l.held = map[K]Object{}
	}
	l.held[who] = o
	if l.total <= l.Room {
		return nil
	}
	keys, objects := make([]K, 0, len(l.held)), make([]Object, 0, len(l.held))
	for key, object := range l.held {
		keys, objects = append(keys, key), append(objects, object)
	}
	for _, i := range Divide(objects, l.Room) {
		evict = append(evict, keys[i])
	}
	return evict
}
