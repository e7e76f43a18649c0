package document

import "encoding/binary"

// A gzip file consists of a header, deflate blocks, and a trailer with the checksum of
// the plain text (RFC 1952).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// gzipEnd returns the final, empty deflate block and the gzip trailer.
func gzipEnd(text checksum) []byte {
	out := []byte{3, 0}
	out = binary.LittleEndian.AppendUint32(out, text.crc)
	return binary.LittleEndian.AppendUint32(out, uint32(text.size))
}

// checksum is the CRC-32 of a text. Checksums can be combined to that of the
// concatenation without the texts.
type checksum struct {
	crc   uint32
	shift uint32 // x to the power of the text's length in bits
	size  int    // bytes
}

// Polynomials modulo the CRC-32 (IEEE) polynomial; the highest bit is the coefficient of x^0.
const (
	polynomial = 0xedb88320
	one        = 1 << 31
	x8         = one >> 8
)

func checksumOf(crc uint32, size int) checksum {
	out := checksum{crc: crc, shift: one, size: size}
	for power, n := uint32(x8), size; n > 0; n >>= 1 {
		if n&1 == 1 {
			out.shift = multiply(out.shift, power)
		}
		power = multiply(power, power)
	}
	return out
}

// then returns the checksum of a text followed by another.
func (c checksum) then(next checksum) checksum {
	return checksum{
		crc:   multiply(c.crc, next.shift) ^ next.crc,
		shift: multiply(c.shift, next.shift),
		size:  c.size + next.size,
	}
}

// multiply returns the product of two polynomials.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a&one != 0 {
			product ^= b
		}
		carry := b & 1
		if b >>= 1; carry == 1 {
			b ^= polynomial
		}
	}
	return product
}
