// SPDX-License-Identifier: Apache-2.0
// The one division of the data plane: normalise, reciprocal from a table of 256, one Newton step
// (docs/datapath.md, "Division"). A table is applied once per packet, so each of the five divisions of a control
// step is an instance of its own.

// Works in hdr.division: numerator and denominator are lost, quotient = mantissa * 2^exponent (0, or a mantissa of
// at least 30 bits). Zero if either is zero.
control Divide(inout division_t division) {
    // The first set bit comes to the top; a binary search in six steps.
    @hidden
    action normalise() {
        division.exponent = -31;
        if (division.numerator[63:32] == 0) {
            division.numerator = division.numerator << 32;
            division.exponent = division.exponent - 32;
        }
        if (division.numerator[63:48] == 0) {
            division.numerator = division.numerator << 16;
            division.exponent = division.exponent - 16;
        }
        if (division.numerator[63:56] == 0) {
            division.numerator = division.numerator << 8;
            division.exponent = division.exponent - 8;
        }
        if (division.numerator[63:60] == 0) {
            division.numerator = division.numerator << 4;
            division.exponent = division.exponent - 4;
        }
        if (division.numerator[63:62] == 0) {
            division.numerator = division.numerator << 2;
            division.exponent = division.exponent - 2;
        }
        if (division.numerator[63:63] == 0) {
            division.numerator = division.numerator << 1;
            division.exponent = division.exponent - 1;
        }
        if (division.denominator[63:32] == 0) {
            division.denominator = division.denominator << 32;
            division.exponent = division.exponent + 32;
        }
        if (division.denominator[63:48] == 0) {
            division.denominator = division.denominator << 16;
            division.exponent = division.exponent + 16;
        }
        if (division.denominator[63:56] == 0) {
            division.denominator = division.denominator << 8;
            division.exponent = division.exponent + 8;
        }
        if (division.denominator[63:60] == 0) {
            division.denominator = division.denominator << 4;
            division.exponent = division.exponent + 4;
        }
        if (division.denominator[63:62] == 0) {
            division.denominator = division.denominator << 2;
            division.exponent = division.exponent + 2;
        }
        if (division.denominator[63:63] == 0) {
            division.denominator = division.denominator << 1;
            division.exponent = division.exponent + 1;
        }
        division.leading_bits = division.denominator[62:55];
    }

    @hidden
    action reciprocal(bit<16> entry) {
        division.reciprocal = (bit<64>)entry;
    }

    @hidden
    table reciprocals {
        key = { division.leading_bits : exact; }
        actions = { reciprocal; @defaultonly NoAction; }
        const default_action = NoAction;
#include "reciprocal_table.p4"
    }

    // The table's 2^47 / d becomes 2^63 / d, never above it; times the numerator's leading 32 bits.
    @hidden
    action multiply() {
        division.denominator = (1 << 48) - division.reciprocal * (division.denominator >> 32);
        division.reciprocal = division.reciprocal * (division.denominator >> 16) >> 15;
        division.mantissa = (division.numerator >> 32) * division.reciprocal >> 32;
    }

    @hidden
    action nothing() {
        division.mantissa = 0;
        division.exponent = 0;
    }

    apply {
        if (division.numerator == 0 || division.denominator == 0) {
            nothing();
        } else {
            normalise();
            reciprocals.apply();
            multiply();
        }
    }
}

// The quotient times 2^scale, rounded down to an integer and at most `limit`, which is below 2^62: in `mantissa`.
control DivideToInteger(inout division_t division)(int<16> scale, bit<64> limit) {
    Divide() divide;

    @hidden
    action shift() {
        division.exponent = division.exponent + scale;
        if (division.exponent >= 32) {
            if (division.mantissa != 0) {
                division.mantissa = limit;
            }
        } else if (division.exponent > 0) {
            division.mantissa = division.mantissa << (bit<8>)(bit<16>)division.exponent;
        } else if (division.exponent > -32) {
            division.mantissa = division.mantissa >> (bit<8>)(bit<16>)(-division.exponent);
        } else {
            division.mantissa = 0;
        }
        if (division.mantissa > limit) {
            division.mantissa = limit;
        }
    }

    apply {
        divide.apply(division);
        shift();
    }
}

// The quotient as a gain for one multiplication per packet: mantissa (32 bits) / 2^exponent. Saturates at 2^32 - 1; a
// value too small to give 1 for any factor is 0.
control DivideToGain(inout division_t division) {
    Divide() divide;

    @hidden
    action turn() {
        if (division.exponent >= 32) {
            division.mantissa = 0xffffffff;
            division.exponent = 0;
        } else if (division.exponent > 0) {
            division.mantissa = division.mantissa << (bit<8>)(bit<16>)division.exponent;
            division.exponent = 0;
            if (division.mantissa > 0xffffffff) {
                division.mantissa = 0xffffffff;
            }
        } else if (division.exponent < -63) {
            division.mantissa = 0;
            division.exponent = 0;
        }
        division.exponent = -division.exponent;
    }

    apply {
        divide.apply(division);
        turn();
    }
}
