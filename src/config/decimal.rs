//! Decimal fractions as configs write them, such as `0.5`: read and printed exactly, without the tables for any number at
//! all, which would be a tenth of what the page downloads.
//!
//! Deliberately absent: more than fifteen digits, infinity. What is not read here is refused as no value.

/// Java's `Double.MAX_VALUE`: how some configs say that there is no limit.
const LARGEST: &str = "1.7976931348623157E308";

/// The most digits that a double holds exactly.
const DIGITS: usize = 15;

/// The value of digits with at most one point and a sign, such as `0.75`; `None` if it is anything else.
pub fn parse(text: &str) -> Option<f64> {
    if text == LARGEST {
        return Some(f64::MAX);
    }
    let (sign, text) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (if text.starts_with('-') { -1.0 } else { 1.0 }, rest),
        None => (1.0, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().count() == 0 || digits().count() > DIGITS || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number = digits().fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    // Both are exact, so that the quotient is the nearest double.
    Some(sign * number as f64 / 10_i64.pow(fraction.len() as u32) as f64)
}

/// The fewest digits, nine behind the point at most, that are read as this number again.
pub fn print(number: f64) -> String {
    if number == f64::MAX {
        return LARGEST.to_string();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let number = number.abs();
    let scaled = |places: u32| (number * 10_i64.pow(places) as f64).round() as i64;
    let is_exact = |places: &u32| scaled(*places) as f64 / 10_i64.pow(*places) as f64 == number;
    let places = (0..9).find(is_exact).unwrap_or(9);
    let unit = 10_i64.pow(places);
    let (whole, fraction) = (scaled(places) / unit, scaled(places) % unit);
    match places {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction:0places$}", places = places as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, print};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_is_what_the_standard_library_reads(text in "[-+]?[0-9]{0,6}(\\.[0-9]{0,9})?") {
            prop_assert_eq!(parse(&text), text.parse().ok());
        }

        #[test]
        fn what_is_printed_is_read_again(number in -1_000_000_i64..1_000_000, places in 0_u32..6) {
            let number = number as f64 / 10_i64.pow(places) as f64;
            prop_assert_eq!(print(number), if number == 0.0 { "0".to_string() } else { number.to_string() });
            prop_assert_eq!(parse(&print(number)), Some(number));
        }
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in ["", ".", "-", "1.2.3", "NaN", "inf", "1e5", "0,5", "1234567890.1234567"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
