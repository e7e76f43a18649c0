package allocation

// Held returns the number of entries in all tables of a plan.
func (p *Plan) Held() (n int) {
	for _, z := range p.zones {
		n += 1 + len(z.tenants) + len(z.waiting)
	}
	return n + len(p.slots) + len(p.ids)
}
