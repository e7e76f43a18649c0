package allocation

// Held returns the number of entries in all tables of a plan.
func (p *Plan) Held() (n int) {
	for _, z := range p.zones {
		n += 1 + len(z.tenants) + len(z.waiting)
	}
	return n + len(p.slots) + len(p.ids)
}

// Stranded returns the number of units in zones that have no shard. They are nowhere, or on a shard
// that drains.
func (p *Plan) Stranded() (n int) {
	for _, z := range p.zones {
		if len(z.shards) == 0 {
			n += z.units
		}
	}
	return n
}
