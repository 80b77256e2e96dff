//! Stretches of a row: its records by the block of columns that they stand in. Each is a component of its own, so that a step
//! draws anew only the blocks where something happened, however many columns are in view.

use std::ops::Range;
use std::rc::Rc;

use super::stage::{BrokerRow, Cell, ProducerLane, Sent};

/// How many columns a block has.
const BLOCK: i64 = 16;

/// A row with records in columns, in ascending order.
pub trait Records {
    /// One of them.
    type Record: PartialEq;

    /// All of them.
    fn records(&self) -> &[Self::Record];

    /// The column of one.
    fn column(record: &Self::Record) -> i64;
}

impl Records for BrokerRow {
    type Record = Cell;

    fn records(&self) -> &[Cell] {
        &self.cells
    }

    fn column(cell: &Cell) -> i64 {
        cell.offset
    }
}

impl Records for ProducerLane {
    type Record = Sent;

    fn records(&self) -> &[Sent] {
        &self.records
    }

    /// Its number stands for its column: a record that is sent again may get another one.
    fn column(sent: &Sent) -> i64 {
        sent.number.into()
    }
}

/// The records of one block. Two are equal when these records are, whatever else of the row has changed.
pub struct Stretch<R> {
    row: Rc<R>,
    range: Range<usize>,
}

impl<R: Records> Stretch<R> {
    /// The records.
    pub fn records(&self) -> &[R::Record] {
        &self.row.records()[self.range.clone()]
    }

    /// Whether the row begins with it.
    pub fn is_first(&self) -> bool {
        self.range.start == 0
    }
}

impl<R: Records> PartialEq for Stretch<R> {
    fn eq(&self, other: &Self) -> bool {
        self.is_first() == other.is_first() && self.records() == other.records()
    }
}

/// A row's stretches, each with the number of its block.
pub fn stretches<R: Records>(row: &Rc<R>) -> impl Iterator<Item = (i64, Stretch<R>)> {
    let block = |record: &R::Record| R::column(record).div_euclid(BLOCK);
    let mut start = 0;
    row.records()
        .chunk_by(move |one, next| block(one) == block(next))
        .map(move |records| {
            let range = start..start + records.len();
            start = range.end;
            let row = row.clone();
            (block(&records[0]), Stretch { row, range })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(Vec<i64>);

    impl Records for Row {
        type Record = i64;

        fn records(&self) -> &[i64] {
            &self.0
        }

        fn column(record: &i64) -> i64 {
            *record
        }
    }

    fn row(columns: &[i64]) -> Vec<(i64, Stretch<Row>)> {
        stretches(&Rc::new(Row(columns.to_vec()))).collect()
    }

    #[test]
    fn each_record_is_in_one_stretch() {
        let all = row(&[3, 15, 15, 16, 47]);
        let told: Vec<_> = all.iter().map(|(key, some)| (*key, some.records().to_vec())).collect();
        assert_eq!(told, [(0, vec![3, 15, 15]), (1, vec![16]), (2, vec![47])]);
        assert!(all[0].1.is_first() && !all[1].1.is_first());
    }

    #[test]
    fn a_stretch_stays_the_same_when_the_row_grows_behind_it_or_goes_before_it() {
        let (one, grown, moved) = (row(&[3, 20, 40]), row(&[3, 20, 40, 41]), row(&[20, 40]));
        assert!(one[1].1 == grown[1].1 && one[2].1 != grown[2].1);
        assert!(one[1].1 != moved[0].1, "it begins the row now, and is where Tab goes");
        assert!(one[2].1 == moved[1].1);
    }
}
