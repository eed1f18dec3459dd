package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// dice is a named source of pseudo-random numbers. Every part of the data has its own, so
// that a change in one part does not change the others.
type dice struct {
	r *rand.Rand
}

func newDice(name string) *dice {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &dice{rand.New(rand.NewPCG(h.Sum64(), 20230102))}
}

// between returns a number from lo to hi, both included.
func (d *dice) between(lo, hi int) int { return lo + d.r.IntN(hi-lo+1) }

func (d *dice) chance(percent int) bool { return d.r.IntN(100) < percent }

// at returns a time of the day between two hours.
func (d *dice) at(day time.Time, from, to int) time.Time {
	return day.Add(time.Duration(d.between(from*3600, to*3600-1)) * time.Second)
}

// after returns a time some seconds later, at which a collector saw the event.
func (d *dice) after(t time.Time) time.Time {
	return t.Add(time.Duration(d.between(2, 90)) * time.Second)
}

func pick[T any](d *dice, xs []T) T { return xs[d.r.IntN(len(xs))] }

// bag draws items in random order and repeats none before all were drawn. An item that
// begins with "@2006-01-02 " is not drawn before that day.
type bag struct {
	d     *dice
	items []item
	left  []int
}

type item struct {
	text  string
	since time.Time
}

func newBag(d *dice, texts []string) *bag {
	b := &bag{d: d}
	for _, t := range texts {
		it := item{text: t}
		if rest, ok := strings.CutPrefix(t, "@"); ok {
			since, text, _ := strings.Cut(rest, " ")
			it = item{text, moment(since)}
		}
		b.items = append(b.items, it)
	}
	return b
}

// next draws an item that is allowed at a time.
func (b *bag) next(at time.Time) string {
	for {
		if len(b.left) == 0 {
			b.left = b.d.r.Perm(len(b.items))
		}
		it := b.items[b.left[0]]
		b.left = b.left[1:]
		if !at.Before(it.since) {
			return it.text
		}
	}
}

// some draws n different items. At least n items must be allowed at the time.
func (b *bag) some(n int, at time.Time) []string {
	var out []string
	for len(out) < n {
		if text := b.next(at); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// vars are the values of $names in a template.
type vars map[string]string

// expand expands a template: {a|b|c} becomes one of the alternatives, which may nest, and
// $name the value of a variable. Templates never contain these characters as text.
func (d *dice) expand(text string, v vars) string {
	s := expander{dice: d, vars: v, in: text}
	s.sequence(true)
	return s.out.String()
}

type expander struct {
	dice *dice
	vars vars
	in   string
	out  strings.Builder
}

// sequence reads up to the end of the alternative. It copies the text if keep is true.
func (s *expander) sequence(keep bool) {
	for s.in != "" && s.in[0] != '|' && s.in[0] != '}' {
		switch s.in[0] {
		case '{':
			s.in = s.in[1:]
			s.choice(keep)
		case '$':
			s.variable(keep)
		default:
			n := strings.IndexAny(s.in, "{}|$")
			if n < 0 {
				n = len(s.in)
			}
			if keep {
				s.out.WriteString(s.in[:n])
			}
			s.in = s.in[n:]
		}
	}
}

func (s *expander) choice(keep bool) {
	chosen := s.dice.r.IntN(alternatives(s.in))
	for i := 0; ; i++ {
		s.sequence(keep && i == chosen)
		if s.in == "" {
			return
		}
		end := s.in[0] == '}'
		s.in = s.in[1:]
		if end {
			return
		}
	}
}

func (s *expander) variable(keep bool) {
	n := 1
	for n < len(s.in) && (s.in[n] == '_' || s.in[n] >= 'a' && s.in[n] <= 'z') {
		n++
	}
	value, ok := s.vars[s.in[1:n]]
	if !ok {
		panic("demo: template has no value for " + s.in[:n])
	}
	if keep {
		s.out.WriteString(value)
	}
	s.in = s.in[n:]
}

// alternatives counts the alternatives up to the closing brace.
func alternatives(text string) int {
	n, depth := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return n
			}
			depth--
		case '|':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}
