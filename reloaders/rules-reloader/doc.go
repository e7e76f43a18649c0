// Package rulesreloader makes servers reload when mounted folders change.
//
//	--volume-dir ─ hash ─▶ version ─▶ one worker per --webhook-url
//
// Nothing is read but to be hashed, and nothing is written. Each server has its own
// state and its own retries, so one that is away does not hold up another, and no
// change is given up: it stays pending until the server has confirmed it.
package rulesreloader
