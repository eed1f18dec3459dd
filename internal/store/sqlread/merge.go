package sqlread

import "slices"

// cursor reads the rows of one source in their order.
type cursor interface {
	// next advances to the next row; false when there is none.
	next() (bool, error)
	close()
}

// merge visits the rows of several cursors as one sequence in the order of before, until
// visit returns false for a row; more is true in that case. It closes the cursors.
func merge[C cursor](all []C, before func(a, b C) bool, visit func(C) (taken bool, err error)) (more bool, err error) {
	defer closeAll(all)
	live := make([]C, 0, len(all))
	for _, c := range all {
		ok, err := c.next()
		if err != nil {
			return false, err
		}
		if ok {
			live = append(live, c)
		}
	}
	for len(live) > 0 {
		first := 0
		for i := 1; i < len(live); i++ {
			if before(live[i], live[first]) {
				first = i
			}
		}
		taken, err := visit(live[first])
		if err != nil || !taken {
			return !taken && err == nil, err
		}
		ok, err := live[first].next()
		if err != nil {
			return false, err
		}
		if !ok {
			live = slices.Delete(live, first, first+1)
		}
	}
	return false, nil
}

func closeAll[C cursor](all []C) {
	for _, c := range all {
		c.close()
	}
}
