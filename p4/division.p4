// SPDX-License-Identifier: Apache-2.0
// The one division of the data plane: normalise, reciprocal from a table of 256, one Newton step
// (docs/datapath.md, "Division"). A table is applied once per packet, so each of the five divisions of a control
// step is an instance of its own.

// Works in hdr.division: numerator and denominator are lost, quotient = mantissa * 2^exponent (0, or a mantissa of
// at least 30 bits). Zero if either is zero.
control Divide(inout interval_t interval) {
    // The first set bit comes to the top; a binary search in six steps.
    @hidden
    action normalise() {
        interval.exponent = -31;
        if (interval.numerator[63:32] == 0) {
            interval.numerator = interval.numerator << 32;
            interval.exponent = interval.exponent - 32;
        }
        if (interval.numerator[63:48] == 0) {
            interval.numerator = interval.numerator << 16;
            interval.exponent = interval.exponent - 16;
        }
        if (interval.numerator[63:56] == 0) {
            interval.numerator = interval.numerator << 8;
            interval.exponent = interval.exponent - 8;
        }
        if (interval.numerator[63:60] == 0) {
            interval.numerator = interval.numerator << 4;
            interval.exponent = interval.exponent - 4;
        }
        if (interval.numerator[63:62] == 0) {
            interval.numerator = interval.numerator << 2;
            interval.exponent = interval.exponent - 2;
        }
        if (interval.numerator[63:63] == 0) {
            interval.numerator = interval.numerator << 1;
            interval.exponent = interval.exponent - 1;
        }
        if (interval.denominator[63:32] == 0) {
            interval.denominator = interval.denominator << 32;
            interval.exponent = interval.exponent + 32;
        }
        if (interval.denominator[63:48] == 0) {
            interval.denominator = interval.denominator << 16;
            interval.exponent = interval.exponent + 16;
        }
        if (interval.denominator[63:56] == 0) {
            interval.denominator = interval.denominator << 8;
            interval.exponent = interval.exponent + 8;
        }
        if (interval.denominator[63:60] == 0) {
            interval.denominator = interval.denominator << 4;
            interval.exponent = interval.exponent + 4;
        }
        if (interval.denominator[63:62] == 0) {
            interval.denominator = interval.denominator << 2;
            interval.exponent = interval.exponent + 2;
        }
        if (interval.denominator[63:63] == 0) {
            interval.denominator = interval.denominator << 1;
            interval.exponent = interval.exponent + 1;
        }
        interval.leading_bits = interval.denominator[62:55];
    }

    @hidden
    action reciprocal(bit<16> entry) {
        interval.reciprocal = (bit<64>)entry;
    }

    @hidden
    table reciprocals {
        key = { interval.leading_bits : exact; }
        actions = { reciprocal; @defaultonly NoAction; }
        const default_action = NoAction;
#include "reciprocal_table.p4"
    }

    // The table's 2^47 / d becomes 2^63 / d, never above it; times the numerator's leading 32 bits.
    @hidden
    action multiply() {
        interval.denominator = (1 << 48) - interval.reciprocal * (interval.denominator >> 32);
        interval.reciprocal = interval.reciprocal * (interval.denominator >> 16) >> 15;
        interval.mantissa = (interval.numerator >> 32) * interval.reciprocal >> 32;
    }

    @hidden
    action nothing() {
        interval.mantissa = 0;
        interval.exponent = 0;
    }

    apply {
        if (interval.numerator == 0 || interval.denominator == 0) {
            nothing();
        } else {
            normalise();
            reciprocals.apply();
            multiply();
        }
    }
}

// The quotient times 2^scale, rounded down to an integer and at most `limit`, which is below 2^62: in `mantissa`.
control DivideToInteger(inout interval_t interval)(int<16> scale, bit<64> limit) {
    Divide() divide;

    @hidden
    action shift() {
        interval.exponent = interval.exponent + scale;
        if (interval.exponent >= 32) {
            if (interval.mantissa != 0) {
                interval.mantissa = limit;
            }
        } else if (interval.exponent > 0) {
            interval.mantissa = interval.mantissa << (bit<8>)(bit<16>)interval.exponent;
        } else if (interval.exponent > -32) {
            interval.mantissa = interval.mantissa >> (bit<8>)(bit<16>)(-interval.exponent);
        } else {
            interval.mantissa = 0;
        }
        if (interval.mantissa > limit) {
            interval.mantissa = limit;
        }
    }

    apply {
        divide.apply(interval);
        shift();
    }
}

// The quotient as a gain for one multiplication per packet: mantissa (32 bits) / 2^exponent. Saturates at 2^32 - 1; a
// value too small to give 1 for any factor is 0.
control DivideToGain(inout interval_t interval) {
    Divide() divide;

    @hidden
    action turn() {
        if (interval.exponent >= 32) {
            interval.mantissa = 0xffffffff;
            interval.exponent = 0;
        } else if (interval.exponent > 0) {
            interval.mantissa = interval.mantissa << (bit<8>)(bit<16>)interval.exponent;
            interval.exponent = 0;
            if (interval.mantissa > 0xffffffff) {
                interval.mantissa = 0xffffffff;
            }
        } else if (interval.exponent < -63) {
            interval.mantissa = 0;
            interval.exponent = 0;
        }
        interval.exponent = -interval.exponent;
    }

    apply {
        divide.apply(interval);
        turn();
    }
}
